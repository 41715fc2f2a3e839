"""What every resolver is: how it asks, how it reads, and what its service wants."""

from collections.abc import Callable
from typing import Final, NamedTuple

from headgate.core.provider import ProviderPolicy
from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.plan import ResolverReply, ResolverResult, ResolverVerdict, Step
from headgate.handlers.download.resolvers.json_tree import UnreadableReply
from headgate.handlers.download.resolvers.options import ResolverOptions

MOST_STEPS: Final = 3
"""More questions about one identifier than any resolver has."""
_ABSENT: Final = frozenset({404, 410})

BuildRequest = Callable[[Identifier, ResolverOptions], Step]
ReadReply = Callable[[Identifier, ResolverReply], Step]


def _nothing_asked(identifier: Identifier, reply: ResolverReply) -> Step:  # noqa: ARG001
    return ResolverResult(ResolverVerdict.NOT_ASKED, reason="it asks nobody")


class Resolver(NamedTuple):
    """A service, or another way to files. No function of it does anything but compute."""

    name: str
    about: str
    """How it answers, in a line."""
    kinds: frozenset[IdentifierKind]
    build_request: BuildRequest
    read_reply: ReadReply = _nothing_asked
    base_url: str = ""
    """Where its service is; `base_url` in the settings says otherwise."""
    provider: str = ""
    """Whose gate its requests pass; empty for the gates of the host alone."""
    policy: ProviderPolicy | None = None
    """The manners of its service, where `core.presets` has none."""
    needs_email: bool = False
    key_env: str = ""
    """The variable that its key is expected in."""
    needs_key: bool = False
    on: bool = True
    """Whether it is asked unless the settings say otherwise."""
    home: tuple[str, ...] = ()
    """What stands in the DOIs of its own. Unless it is named, it is asked about no others."""
    rescue: bool = False
    """It is asked about a URL that led nowhere, never about an input."""

    def start(self, identifier: Identifier, options: ResolverOptions) -> Step:
        """The first question, or the end where there is nothing to ask."""
        if identifier.kind not in self.kinds:
            return ResolverResult(
                ResolverVerdict.NOT_ASKED, reason=f"not asked about a {identifier.kind}"
            )
        return self.build_request(identifier, options)

    def read(self, identifier: Identifier, reply: ResolverReply) -> Step:
        """What comes of a reply; a reply of any shape comes to some end, and none raises."""
        step = self._read(identifier, reply)
        found = reply.ask.found
        if isinstance(step, ResolverResult) and found and not step.plans:
            return ResolverResult(
                ResolverVerdict.FOUND, found, step.pages, step.reason, step.status
            )
        return step

    def _read(self, identifier: Identifier, reply: ResolverReply) -> Step:
        if reply.status in _ABSENT:
            return ResolverResult(ResolverVerdict.UNKNOWN, reason=f"{self.name} does not know it")
        if not 200 <= reply.status < 300:
            problem = f"{self.name} answered {reply.status}"
            return ResolverResult(ResolverVerdict.FAULT, reason=problem, status=reply.status)
        try:
            return self.read_reply(identifier, reply)
        except UnreadableReply as problem:
            return ResolverResult(
                ResolverVerdict.UNREADABLE, reason=f"{self.name}: {problem}", status=reply.status
            )
