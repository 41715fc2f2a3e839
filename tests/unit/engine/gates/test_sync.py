"""Gates of several processes agree through a real ledger."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path
from typing import Self

import msgspec
import pytest

from headgate.core.errors import StoreUnreachable
from headgate.core.gates.config import GatePolicy
from headgate.core.gates.configured_limiter import ConfiguredLimiter
from headgate.core.gates.shared_limiter import SharedLimiter
from headgate.core.gates.state import GateState
from headgate.core.provider import ProviderPolicy
from headgate.engine.clock import SystemClock
from headgate.engine.gates.gate import LocalGate
from headgate.engine.gates.path import GatePaths
from headgate.engine.gates.sync import LedgerSync, LedgerTime
from headgate.engine.gates.tree import GateClosed, GateTree
from headgate.ports.gate import HostTrouble, Permit, Route, Turn
from headgate.ports.limits import Exchange, LimitLedger, Proposal
from headgate.stores.sqlite import SqliteStore
from headgate.testing import FakeClock

HOST = Route("", "example.org", "api.example.org")
PRICES = Route("prices", "example.org", "api.example.org")
MINE = Turn("me", 1)
PLAIN = GatePolicy()


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[LimitLedger]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store.limits


class Process:
    """The gates of one process; several may live in this one."""

    def __init__(
        self,
        name: str,
        ledger: LimitLedger,
        policy: GatePolicy = PLAIN,
        **providers: ProviderPolicy,
    ) -> None:
        clock = SystemClock()
        self.time = LedgerTime(clock)
        ceiling = partial(SharedLimiter, name, kind=ConfiguredLimiter)
        self._ways = gate_paths = GatePaths(
            providers, policy, partial(SharedLimiter, name), ceiling, self._look_after
        )
        self.tree = GateTree(gate_paths.to, self.time, clock)
        self.sync = LedgerSync(ledger, self.time, clock, self.tree.wake)
        self.tree.on_impatience = self.sync.nudge

    def _look_after(self, gate: LocalGate) -> None:
        self.sync.add(gate)

    async def __aenter__(self) -> Self:
        self._task = asyncio.ensure_future(self.sync.run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])
        await self.sync.close()

    @property
    def shares(self) -> list[SharedLimiter]:
        return [
            gate.limiter
            for gate in self._ways.gates.values()
            if isinstance(gate.limiter, SharedLimiter)
        ]

    async def enter(self, route: Route = HOST, **cost: float) -> Permit:
        return await self.tree.enter(route, MINE, cost, 3.0)

    async def send(self, status: int = 200, patience_s: float = 5.0, **headers: str) -> None:
        permit = await self.tree.enter(HOST, MINE, {}, patience_s)
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        permit.answered(status, names, 0.01)
        permit.release()


async def send_for_ever(process: Process) -> None:
    while True:
        await process.send(patience_s=3.0)


async def state_of(ledger: LimitLedger) -> GateState:
    (entry,) = await ledger.entries()
    assert entry.key == "host:api.example.org"
    return msgspec.json.decode(entry.state, type=GateState)


async def test_the_ledger_has_the_events_of_a_process_that_ended(ledger: LimitLedger):
    async with Process("a", ledger) as process:
        for _ in range(3):
            await process.send()
    assert (await state_of(ledger)).pace.replies == 3


async def test_the_next_process_starts_from_what_was_learned(ledger: LimitLedger):
    async with Process("a", ledger) as process:
        await process.send()
        await process.send(429, retry_after="60")
    async with Process("b", ledger) as later:
        with pytest.raises(GateClosed, match="retry-after"):
            await later.send(patience_s=3.0)


async def test_a_gate_that_one_process_closes_is_closed_for_the_others(ledger: LimitLedger):
    async with Process("a", ledger) as mine, Process("b", ledger) as other:
        await mine.send()
        await other.send()
        await mine.send(429, retry_after="60")
        with pytest.raises(GateClosed):
            await send_for_ever(other)


class Unreachable:
    """A ledger that has gone away."""

    def __init__(self, ledger: LimitLedger) -> None:
        self._ledger = ledger
        self.gone = False

    async def exchange(self, proposals: object, keys: object) -> object:
        if self.gone:
            raise StoreUnreachable
        return await self._ledger.exchange(proposals, keys)  # type: ignore[arg-type]

    async def wait_urgent(self, timeout_s: float) -> bool:
        return await self._ledger.wait_urgent(timeout_s)


async def test_requests_are_sent_without_a_ledger(ledger: LimitLedger):
    fragile = Unreachable(ledger)
    async with Process("a", fragile) as process:  # type: ignore[arg-type]
        await process.send()
        fragile.gone = True
        for _ in range(5):
            await process.send()
        fragile.gone = False
    assert (await state_of(ledger)).pace.replies == 6


async def test_a_cap_on_a_host_applies_to_all_processes_together(ledger: LimitLedger):
    policy = ProviderPolicy(concurrency_per_host=2)
    async with (
        Process("a", ledger, prices=policy) as mine,
        Process("b", ledger, prices=policy) as other,
    ):
        held = [await mine.enter(PRICES), await other.enter(PRICES)]
        with pytest.raises(GateClosed, match="the configured number of requests in flight"):
            await mine.tree.enter(PRICES, MINE, {}, 0.3)
        held[0].release()
        (await mine.enter(PRICES)).release()
        held[1].release()


async def test_all_processes_share_one_budget(ledger: LimitLedger):
    policy = ProviderPolicy(budget={"tokens": "100/min"})
    async with (
        Process("a", ledger, prices=policy) as mine,
        Process("b", ledger, prices=policy) as other,
    ):
        (await mine.enter(PRICES, tokens=60.0)).release()
        with pytest.raises(GateClosed, match="budget: 100 tokens in a minute are spent"):
            await other.enter(PRICES, tokens=60.0)
        (await other.enter(PRICES, tokens=40.0)).release()


async def test_the_actual_cost_of_a_request_counts(ledger: LimitLedger):
    policy = ProviderPolicy(budget={"tokens": "100/min"})
    async with Process("a", ledger, prices=policy) as process:
        permit = await process.enter(PRICES, tokens=90.0)
        permit.answered(200, {}, 0.01)
        permit.spend({"tokens": 20.0})
        permit.release()
        refused = await process.enter(PRICES, tokens=70.0)
        refused.answered(429, {"retry-after": "0"}, 0.01)
        refused.release()
        (await process.enter(PRICES, tokens=70.0)).release()


async def test_a_spent_hard_cap_is_reported_with_its_job(ledger: LimitLedger):
    policy = ProviderPolicy(hard_caps={"requests": "2/day"})
    async with Process("a", ledger, prices=policy) as process:
        told: list[tuple[int, GateClosed]] = []
        process.tree.on_spent = lambda job_id, closed: told.append((job_id, closed))
        for _ in range(2):
            (await process.enter(PRICES)).release()
        with pytest.raises(GateClosed, match="2 requests in a day are spent") as caught:
            await process.enter(PRICES)
        ((job_id, closed),) = told
        assert (job_id, closed) == (MINE.job_id, caught.value)
        assert 0 < closed.wait_s <= 86_400
        assert process.tree.room(MINE.job_id, "prices") == 0


async def test_a_host_that_does_not_answer_is_reported_to_the_others(ledger: LimitLedger):
    async with Process("a", ledger) as process:
        (await process.enter()).release()
        process.tree.hosts.is_down("api.example.org", HostTrouble(600.0, "timed out"), 1)
        (share,) = process.shares
        assert not share.idle
        told = share.merge(await state_of(ledger), process.time.now())
        assert list(told.members["a"].broken) == ["api.example.org"]
        assert told.members["a"].down["api.example.org"].reason == "timed out"


async def test_a_host_that_has_answered_is_known_to_the_next_process(ledger: LimitLedger):
    async with Process("a", ledger) as process:
        (await process.enter()).release()
        assert not process.tree.hosts.has_answered("api.example.org")
        process.tree.hosts.answers("api.example.org")
    async with Process("b", ledger) as process:
        (await process.enter()).release()
        assert process.tree.hosts.has_answered("api.example.org")
        assert not process.tree.hosts.has_answered("other.example.org")


class Slow:
    """A ledger whose answer to a proposal takes long, while what it has kept can be read."""

    def __init__(self, ledger: LimitLedger) -> None:
        self._ledger = ledger
        self._kept: Exchange | None = None
        self.rings = asyncio.Event()
        self.go_on = asyncio.Event()

    async def exchange(self, proposals: Sequence[Proposal], keys: Sequence[str]) -> Exchange:
        if not proposals and self._kept is not None:
            return msgspec.structs.replace(self._kept, accepted=frozenset())
        report = self._kept = await self._ledger.exchange(proposals, keys)
        self.rings.set()
        await self.go_on.wait()
        return report

    async def wait_urgent(self, timeout_s: float) -> bool:
        await self.rings.wait()
        self.rings.clear()
        return True


async def test_a_concurrent_read_does_not_undo_an_accepted_proposal(ledger: LimitLedger):
    slow = Slow(ledger)
    policy = ProviderPolicy(hard_caps={"requests": "1/day"})
    async with Process("a", slow, prices=policy) as process:  # type: ignore[arg-type]
        entering = asyncio.ensure_future(process.enter(PRICES))
        await slow.rings.wait()
        for _ in range(20):  # time for the listener to read, if it may
            await FakeClock().sleep(0)
        slow.go_on.set()
        (await entering).release()
