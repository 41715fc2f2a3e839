"""A whole HTTP stack for a test: real wire, open gates, and every call that was recorded."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from headgate.core.call import Call
from headgate.core.gates.breaker import BreakerPolicy
from headgate.core.provider import ProviderPolicy
from headgate.engine.clock import SystemClock
from headgate.net.cache import HttpCache
from headgate.net.client import HttpClient
from headgate.net.policy import NetPolicy
from headgate.net.stack import HttpParts, HttpStack
from headgate.net.wire import AiohttpWire
from headgate.ports.clock import Clock
from headgate.ports.gate import Hosts, HostTrouble, NoHosts, Turn
from tests.kit.gates import OpenGates

ALICE = Turn("alice", 1)


def no_trouble(event: str, **facts: object) -> None:
    """What a cache does with warnings where there should be none."""
    raise AssertionError(event, facts)


class Heard(NoHosts):
    """Keeps what it hears of hosts."""

    def __init__(self) -> None:
        self.news: list[Any] = []

    def is_down(self, host: str, trouble: HostTrouble, job_id: int) -> None:
        self.news.append((host, trouble, job_id))

    def is_up(self, host: str) -> None:
        self.news.append(host)


class Bench:
    """What a test of the client needs at hand."""

    def __init__(self, stack: HttpStack, gates: OpenGates) -> None:
        self.stack = stack
        self.gates = gates
        self.calls: list[Call] = []

    def client(
        self,
        provider: str = "",
        *,
        guarded: bool = False,
        again: bool = False,
        for_user: bool = False,
    ) -> HttpClient:
        """The client of one attempt; `again`: of a row that was tried before."""
        turn = Turn(ALICE.owner, ALICE.job_id, again=again, for_user=for_user)
        return self.stack.client(turn, provider, self.calls.append, guarded=guarded)


@asynccontextmanager
async def bench(
    providers: Mapping[str, ProviderPolicy] | None = None,
    *,
    policy: NetPolicy | None = None,
    breakers: BreakerPolicy | None = None,
    gates: OpenGates | None = None,
    clock: Clock | None = None,
    cache: HttpCache | None = None,
    hosts: Hosts | None = None,
) -> AsyncIterator[Bench]:
    """A stack, closed when the test is over."""
    gates = gates or OpenGates()
    net = policy or NetPolicy()
    wire = AiohttpWire(allow_private=net.allow_private)
    parts = HttpParts(wire, gates, clock or SystemClock(), Random(1), cache)
    stack = HttpStack(parts, providers or {}, net, breakers or BreakerPolicy(), hosts)
    try:
        yield Bench(stack, gates)
    finally:
        await stack.close()
    assert gates.inside == 0, "a place at the gates was not given back"
