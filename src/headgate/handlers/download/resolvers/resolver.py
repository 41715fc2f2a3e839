"""The type of all resolvers: how it asks, how it reads, and the limits of its service."""

from collections.abc import Callable
from typing import Final, NamedTuple

from headgate.core.provider import ProviderPolicy
from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.plan import ResolverReply, ResolverResult, ResolverVerdict, Step
from headgate.handlers.download.resolvers.json_tree import UnreadableReply
from headgate.handlers.download.resolvers.options import ResolverOptions

MOST_STEPS: Final = 3
"""Most requests that a resolver makes about one identifier."""
_ABSENT: Final = frozenset({404, 410})

BuildRequest = Callable[[Identifier, ResolverOptions], Step]
ReadReply = Callable[[Identifier, ResolverReply], Step]


def _nothing_asked(identifier: Identifier, reply: ResolverReply) -> Step:  # noqa: ARG001
    return ResolverResult(ResolverVerdict.NOT_ASKED, reason="it sends no request")


class Resolver(NamedTuple):
    """A service, or another way to find files. Its functions are pure."""

    name: str
    about: str
    """A line about the files that it finds."""
    kinds: frozenset[IdentifierKind]
    build_request: BuildRequest
    read_reply: ReadReply = _nothing_asked
    base_url: str = ""
    """The URL of the service; `base_url` in the settings overrides it."""
    provider: str = ""
    """The provider whose gate the requests pass; empty: only the gates of the host."""
    policy: ProviderPolicy | None = None
    """The limits of the service, if `core.presets` has none."""
    needs_email: bool = False
    key_env: str = ""
    needs_key: bool = False
    on: bool = True
    """Whether it is asked by default."""
    home: tuple[str, ...] = ()
    """Parts of the service's own DOIs. Unless it is named, it is asked only about these."""
    rescue: bool = False
    """Whether it is asked about dead URLs, and never about an input."""

    def start(self, identifier: Identifier, options: ResolverOptions) -> Step:
        """Return the first request, or the result if there is nothing to ask."""
        if identifier.kind not in self.kinds:
            return ResolverResult(
                ResolverVerdict.NOT_ASKED, reason=f"not asked about a {identifier.kind}"
            )
        return self.build_request(identifier, options)

    def read(self, identifier: Identifier, reply: ResolverReply) -> Step:
        """Return the next step for a reply of any shape. Never raises."""
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
