"""The resolvers of a job: which are asked, in which order, with what, and why others are not."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import msgspec

from headgate.core.errors import UsageError
from headgate.core.presets import PRESETS
from headgate.core.provider import CredentialPolicy, ProviderPolicy
from headgate.core.url import normalize, split_origin
from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.resolvers.options import ResolverOptions, ResolverPolicy
from headgate.handlers.download.resolvers.registry import RESOLVERS
from headgate.handlers.download.resolvers.resolver import Resolver

_OF_KIND: Final = {IdentifierKind.ARXIV: ("arxiv",), IdentifierKind.PMCID: ("europe_pmc",)}
_BEHIND_WALLS: Final = ("unpaywall", "core", "doaj")
"""Where copies outside the publisher's own site are known."""
_WALLED: Final = (
    "10.1002/",  # Wiley
    "10.1007/",  # Springer
    "10.1016/",  # Elsevier
    "10.1021/",  # American Chemical Society
    "10.1038/",  # Nature
    "10.1080/",  # Taylor & Francis
    "10.1109/",  # IEEE
    "10.1111/",  # Wiley
    "10.1177/",  # SAGE
)
"""Publishers most of whose own links ask for a subscription."""


def likeliest_first(identifier: Identifier, resolvers: Iterable[Resolver]) -> list[Resolver]:
    """The same resolvers, those first that are likeliest to know this one."""
    first = _first(identifier)

    def rank(resolver: Resolver) -> int:
        if is_home(identifier, resolver):
            return -1
        return first.index(resolver.name) if resolver.name in first else len(first)

    return sorted(resolvers, key=rank)


def is_home(identifier: Identifier, resolver: Resolver) -> bool:
    """Whether a DOI was given out by the very service."""
    return identifier.kind is IdentifierKind.DOI and any(
        mark in identifier.value for mark in resolver.home
    )


def _first(identifier: Identifier) -> tuple[str, ...]:
    if identifier.kind is IdentifierKind.DOI:
        return _BEHIND_WALLS if identifier.value.startswith(_WALLED) else ()
    return _OF_KIND.get(identifier.kind, ())


DIRECT = "direct"


class ResolverSelection:
    """Made once for a job. Pure: the environment is an argument."""

    def __init__(
        self,
        policy: ResolverPolicy,
        named: Sequence[str] = (),
        environment: Mapping[str, str] = MappingProxyType({}),
        providers: Mapping[str, ProviderPolicy] = PRESETS,
    ) -> None:
        """`named` are those of the command; they stand before the order of the settings."""
        _check_names([*policy.resolvers, *policy.order, *named])
        self._policy = policy
        self._environment = environment
        self._providers = providers
        self._named = tuple(dict.fromkeys(named or policy.order))
        self._asked: list[Resolver] = []
        self.left_out: dict[str, str] = {}
        """Resolvers that are not asked, and why: to be told to the user once."""
        for name in self._named or RESOLVERS:
            self._consider(RESOLVERS[name])
        if DIRECT not in self._named and self._named:
            self._asked.insert(0, RESOLVERS[DIRECT])

    @property
    def names(self) -> tuple[str, ...]:
        """Those that are asked at all."""
        return tuple(resolver.name for resolver in self._asked)

    def of(self, identifier: Identifier) -> tuple[Resolver, ...]:
        """Whom to ask about an input, in this order.

        A URL is its own answer, whoever is named: others are asked about it only if they are.
        """
        fit = [each for each in self._asked if not each.rescue and self._fits(each, identifier)]
        return tuple(fit if self._named else likeliest_first(identifier, fit))

    def rescuers(self) -> tuple[Resolver, ...]:
        """Whom to ask about a URL that led nowhere (404, 410, or no such host)."""
        return tuple(each for each in self._asked if each.rescue)

    def options(self, resolver: Resolver) -> ResolverOptions:
        """What a resolver is asked with."""
        given = self._policy.settings(resolver.name).base_url
        return ResolverOptions((given or resolver.base_url).rstrip("/"), self._policy.email)

    def providers(self) -> dict[str, ProviderPolicy]:
        """The policies of the services that are asked.

        What the user said about a provider stays. Its hosts follow `base_url`, so that a key goes
        to no other place than where the questions go.
        """
        return {each.provider: self._provider(each) for each in self._asked if each.provider}

    def _provider(self, resolver: Resolver) -> ProviderPolicy:
        policy = _overlaid(self._providers.get(resolver.provider), resolver.policy)
        given = self._policy.settings(resolver.name)
        hosts = policy.hosts
        if given.base_url:
            where, _ = split_origin(normalize(given.base_url))
            hosts = (where.partition("://")[2],)
        credentials = {
            name: _kept_in(given.key_env, credential) if given.key_env else credential
            for name, credential in policy.credentials.items()
        }
        return msgspec.structs.replace(policy, hosts=hosts, credentials=credentials)

    def _consider(self, resolver: Resolver) -> None:
        missing = self._missing(resolver)
        wanted = self._policy.settings(resolver.name).enabled
        if resolver.name in self._named and missing:
            raise UsageError(f"{resolver.name} {missing}, or leave it out")
        if not (resolver.on if wanted is None else wanted) and resolver.name not in self._named:
            self.left_out[resolver.name] = "is off"
        elif missing:
            self.left_out[resolver.name] = missing
        else:
            self._asked.append(resolver)

    def _missing(self, resolver: Resolver) -> str:
        if resolver.needs_email and not self._policy.email:
            return "needs an e-mail address: give --email"
        if resolver.needs_key and not self._has_key(resolver):
            variable = self._policy.settings(resolver.name).key_env or resolver.key_env
            return f"needs a key: set {variable}"
        return ""

    def _has_key(self, resolver: Resolver) -> bool:
        return any(
            credential.file or self._environment.get(credential.env, "").strip()
            for credential in self._provider(resolver).credentials.values()
        )

    def _fits(self, resolver: Resolver, identifier: Identifier) -> bool:
        if identifier.kind not in resolver.kinds:
            return False
        if resolver.name in self._named:
            return True
        if identifier.kind is IdentifierKind.URL:
            return resolver.name == DIRECT
        return not resolver.home or is_home(identifier, resolver)


def _overlaid(said: ProviderPolicy | None, ours: ProviderPolicy | None) -> ProviderPolicy:
    """What a user says of a provider, and ours where they say nothing."""
    if said is None or ours is None:
        return said or ours or ProviderPolicy()
    unsaid = ProviderPolicy()
    changes = {
        name: getattr(ours, name)
        for name in ProviderPolicy.__struct_fields__
        if getattr(said, name) == getattr(unsaid, name)
    }
    return msgspec.structs.replace(said, **changes)


def _kept_in(variable: str, credential: CredentialPolicy) -> CredentialPolicy:
    return msgspec.structs.replace(credential, env=variable, file="")


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if name not in RESOLVERS:
            close = difflib.get_close_matches(name, RESOLVERS, 1, 0.6)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(RESOLVERS)}"
            raise UsageError(f"there is no resolver {name!r}; {hint}")
