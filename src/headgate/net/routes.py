"""Routes: the provider, gates and headers for each origin, looked up once and remembered."""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import version

import msgspec
from publicsuffixlist import PublicSuffixList

from headgate.core.gates.breaker import Breaker, BreakerState
from headgate.core.provider import ProviderPolicy, provider_of
from headgate.core.url import UrlOrigin, parse_origin, registrable_domain, split_origin
from headgate.net.breaker import Breakers
from headgate.net.policy import NetPolicy
from headgate.ports.gate import Route
from headgate.ports.wire import Headers, WireTimeouts


@cache
def suffixes() -> PublicSuffixList:
    """The public suffix list, read once for each process when it is first needed."""
    return PublicSuffixList()


def domain_of(origin: UrlOrigin) -> str:
    # An address needs no list, and reading the list takes a while.
    return origin.host if origin.is_address else registrable_domain(origin, suffixes())


class Target(msgspec.Struct, frozen=True):
    origin: UrlOrigin
    text: str
    """The origin as it appears in a URL."""
    host: str
    provider: str
    """Empty for a host that no provider declares."""
    policy: ProviderPolicy
    declared: bool
    """The provider's settings name this host, so its credentials may be sent there."""
    logs_in: bool
    """Requests to it may carry a token that a login brings."""
    headers: Headers
    contact: tuple[str, str] | None
    """The parameter in which the provider wants our contact, and the contact."""
    patience: WireTimeouts
    counts_bytes: bool
    """Whether there is a budget for bytes."""
    breaker: Breaker
    route: Route
    light: Route

    @property
    def is_down(self) -> bool:
        """Whether the breaker would stop a repeat, which would hide the first failure."""
        return self.breaker.state is not BreakerState.CLOSED


class Routes:
    MOST = 20_000
    """Most origins that are remembered."""

    def __init__(
        self, providers: Mapping[str, ProviderPolicy], policy: NetPolicy, breakers: Breakers
    ) -> None:
        self._providers = providers
        self._policy = policy
        self._breakers = breakers
        self._unknown = ProviderPolicy()
        self._places: dict[tuple[str, str], Target] = {}

    def find(self, url: str, provider: str) -> tuple[Target, str]:
        # Nearly every URL belongs to a known origin, and then nothing needs to be parsed.
        end = url.find("/", 8)
        found = self._places.get((url[:end], provider)) if end > 0 else None
        if found is not None:
            return found, url[end:]
        where, rest = split_origin(url)
        return self.place(where, provider), rest

    def place(self, where: str, provider: str) -> Target:
        found = self._places.get((where, provider))
        if found is None:
            if len(self._places) >= self.MOST:
                self._places.clear()
            found = self._places[where, provider] = self._look_up(where, provider)
        return found

    def _look_up(self, where: str, handlers_provider: str) -> Target:
        origin = parse_origin(where)
        host = origin.key
        own = self._providers.get(handlers_provider, self._unknown)
        # Several sources may describe one host, each with its own credential.
        declared = provider_of(host, self._providers, handlers_provider)
        # A provider that names no hosts covers all hosts that its handlers ask.
        anywhere = not own.hosts
        provider = declared or (handlers_provider if anywhere else "")
        policy = self._providers.get(provider, self._unknown)
        contact = policy.contact or self._policy.contact
        route = Route(provider, domain_of(origin), host)
        if policy.each_host:
            route = Route("", route.domain, host, manners=provider)
            provider = ""
        return Target(
            origin=origin,
            text=str(origin),
            host=host,
            provider=provider,
            policy=policy,
            declared=bool(declared),
            logs_in=bool(declared) and policy.logs_in,
            headers=self._introduction(policy, contact),
            contact=(policy.contact_parameter, contact) if policy.contact_parameter else None,
            counts_bytes="bytes" in {*policy.budget, *policy.hard_caps},
            breaker=self._breakers.of(host),
            patience=WireTimeouts(self._policy.connect_s, self._policy.read_s, policy.timeout_s),
            route=route,
            light=msgspec.structs.replace(route, transfer=False),
        )

    def _introduction(self, policy: ProviderPolicy, contact: str) -> Headers:
        name = policy.user_agent or self._policy.user_agent or f"headgate/{version('headgate')}"
        known = f"{name} ({contact})" if contact and contact not in name else name
        return (("user-agent", known), ("accept", "*/*"), ("accept-encoding", "gzip, deflate"))
