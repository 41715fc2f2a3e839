"""The resolvers of a job: which are asked, in which order, and why others are not."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import msgspec

from headgate.core.errors import UsageError
from headgate.core.provider import PRESETS, CredentialPolicy, ProviderPolicy
from headgate.core.url import normalize, split_origin
from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.resolvers.options import ResolverOptions, ResolverPolicy
from headgate.handlers.download.resolvers.registry import RESOLVERS
from headgate.handlers.download.resolvers.resolver import Resolver

_OF_KIND: Final = {IdentifierKind.ARXIV: ("arxiv",), IdentifierKind.PMCID: ("europe_pmc",)}
_COPY_INDEXES: Final = ("unpaywall", "core", "doaj")
"""Resolvers that know copies outside the publisher's site."""
_PAYWALLED: Final = (
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
"""DOI prefixes of publishers most of whose links need a subscription."""


def likeliest_first(identifier: Identifier, resolvers: Iterable[Resolver]) -> list[Resolver]:
    first = _first(identifier)

    def rank(resolver: Resolver) -> int:
        if is_home(identifier, resolver):
            return -1
        return first.index(resolver.name) if resolver.name in first else len(first)

    return sorted(resolvers, key=rank)


def is_home(identifier: Identifier, resolver: Resolver) -> bool:
    """Whether the resolver's service issued the DOI."""
    return identifier.kind is IdentifierKind.DOI and any(
        mark in identifier.value for mark in resolver.home
    )


def _first(identifier: Identifier) -> tuple[str, ...]:
    if identifier.kind is IdentifierKind.DOI:
        return _COPY_INDEXES if identifier.value.startswith(_PAYWALLED) else ()
    return _OF_KIND.get(identifier.kind, ())


DIRECT = "direct"


class ResolverSelection:
    """The resolvers of one job. Pure: the environment is an argument."""

    def __init__(
        self,
        policy: ResolverPolicy,
        named: Sequence[str] = (),
        environment: Mapping[str, str] = MappingProxyType({}),
        providers: Mapping[str, ProviderPolicy] = PRESETS,
    ) -> None:
        """`named` are the resolvers of the command; they override the order of the settings."""
        _check_names([*policy.resolvers, *policy.order, *named])
        self._policy = policy
        self._environment = environment
        self._providers = providers
        self._named = tuple(dict.fromkeys(named or policy.order))
        self._asked: list[Resolver] = []
        self.left_out: dict[str, str] = {}
        """Resolvers that are not asked, and why; shown to the user once."""
        for name in self._named or RESOLVERS:
            self._consider(RESOLVERS[name])
        if DIRECT not in self._named and self._named:
            self._asked.insert(0, RESOLVERS[DIRECT])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(resolver.name for resolver in self._asked)

    def of(self, identifier: Identifier) -> tuple[Resolver, ...]:
        """The resolvers to ask about an input, in order.

        A URL is its own plan: other resolvers are asked about it only if they are named.
        """
        fit = [each for each in self._asked if not each.rescue and self._fits(each, identifier)]
        return tuple(fit if self._named else likeliest_first(identifier, fit))

    def rescuers(self) -> tuple[Resolver, ...]:
        """The resolvers to ask about a dead URL (404, 410, or unknown host)."""
        return tuple(each for each in self._asked if each.rescue)

    def options(self, resolver: Resolver) -> ResolverOptions:
        given = self._policy.settings(resolver.name).base_url
        return ResolverOptions((given or resolver.base_url).rstrip("/"), self._policy.email)

    def providers(self) -> dict[str, ProviderPolicy]:
        """The policies of the services that are asked.

        The user's settings of a provider stay. Its hosts follow `base_url`, so that a key is sent
        only to the host of the requests.
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
            credential.login
            or credential.user
            or credential.file
            or self._environment.get(credential.env, "").strip()
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


def _overlaid(given: ProviderPolicy | None, ours: ProviderPolicy | None) -> ProviderPolicy:
    """The user's settings of a provider, with our own where they have the default."""
    if given is None or ours is None:
        return given or ours or ProviderPolicy()
    default = ProviderPolicy()
    changes = {
        name: getattr(ours, name)
        for name in ProviderPolicy.__struct_fields__
        if getattr(given, name) == getattr(default, name)
    }
    return msgspec.structs.replace(given, **changes)


def _kept_in(variable: str, credential: CredentialPolicy) -> CredentialPolicy:
    return msgspec.structs.replace(credential, env=variable, file="", login=None, user=None)


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if name not in RESOLVERS:
            close = difflib.get_close_matches(name, RESOLVERS, 1, 0.6)
            hint = f"did you mean {close[0]}?" if close else f"use one of {', '.join(RESOLVERS)}"
            raise UsageError(f"unknown resolver {name!r}; {hint}")
