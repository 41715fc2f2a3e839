"""The HTTP stack of a process: one wire, one cache, one set of breakers and gates."""

from collections.abc import Mapping
from random import Random

import msgspec

from headgate.core.gates.breaker import BreakerPolicy
from headgate.core.provider import ProviderPolicy
from headgate.net.breaker import Breakers
from headgate.net.cache import HttpCache
from headgate.net.client import HttpClient
from headgate.net.crawl_delay import CrawlDelays
from headgate.net.credentials import Credentials
from headgate.net.gated import NetDeps, Record
from headgate.net.login_exchange import LoginExchange
from headgate.net.policy import NetPolicy
from headgate.net.robots import Robots
from headgate.net.routes import Routes
from headgate.net.tokens import LoginTokens
from headgate.ports.clock import Clock
from headgate.ports.gate import Gates, Hosts, Turn
from headgate.ports.wire import Wire


class HttpParts(msgspec.Struct, frozen=True):
    wire: Wire
    gates: Gates
    clock: Clock
    rng: Random
    cache: HttpCache | None = None
    """Opened and closed by its maker."""


class HttpStack:
    def __init__(
        self,
        parts: HttpParts,
        providers: Mapping[str, ProviderPolicy],
        policy: NetPolicy,
        breakers: BreakerPolicy,
        hosts: Hosts | None = None,
    ) -> None:
        self._wire = parts.wire
        self.cache = parts.cache
        self.policy = policy
        self.rng = parts.rng
        self.breakers = Breakers(breakers, parts.clock, parts.rng, hosts)
        self.routes = Routes(providers, policy, self.breakers)
        crawl_delays = CrawlDelays(parts.clock)
        self.robots = Robots(parts.clock, crawl_delays, breakers, hosts)
        credentials = Credentials(providers)
        self._tokens = LoginTokens(providers, credentials, parts.clock)
        self.deps = NetDeps(
            gates=parts.gates,
            breakers=self.breakers,
            wire=parts.wire,
            credentials=credentials,
            tokens=self._tokens,
            crawl_delays=crawl_delays,
            clock=parts.clock,
        )
        self._tokens.send = LoginExchange(self.deps, self.routes).send

    def client(
        self, turn: Turn, provider: str, record: Record, *, guarded: bool = False
    ) -> HttpClient:
        """The client of one attempt; `provider` is its handler's, empty if it names none."""
        return HttpClient(self, turn, provider, record, guarded=guarded)

    async def close(self) -> None:
        await self._tokens.close()
        await self._wire.close()
