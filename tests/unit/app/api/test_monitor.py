"""A job that has rows to do and hardly does any makes the health red, with its cause."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from headgate.app.api.job_readings import LimitCache
from headgate.app.api.monitor import Monitor, SlowJobs
from headgate.core.gates.config import GateLimits
from headgate.core.gates.state import GateState, HostDown, Member
from headgate.core.gates.wait import WaitKind
from headgate.core.pacing.level import Level
from headgate.core.pacing.state import PaceState
from headgate.core.status import ItemStatus, JobMove
from headgate.core.waiting import SLOW_S
from headgate.ports.items import SettleRequest
from headgate.ports.limits import Proposal
from headgate.stores.sqlite.store import SqliteStore
from headgate.testing import FakeClock
from tests.kit import factories

LANES = 32


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


class Watched:
    """A pulse over a store, looked at second by second."""

    def __init__(self, store: Any, provider: str = "") -> None:
        self.clock = FakeClock()
        providers = {"price.lookup": provider} if provider else {}
        limit_cache = LimitCache(store, GateLimits({}), self.clock, providers)
        self.monitor = Monitor(store, self.clock, SlowJobs(store, limit_cache, self.clock, LANES))

    async def seconds(self, count: int) -> None:
        for _ in range(count):
            await self.monitor.sample()
            await self.clock.advance(1.0)
        await self.monitor.sample()


async def broken_gate(store: SqliteStore, worker: str) -> None:
    """A provider whose host does not answer."""
    now_s = (await store.limits.exchange((), [])).now_s
    down = {"a.example": HostDown(now_s + 600.0, "connection refused", now_s)}
    members = {worker: Member(now_s, -1.0, down=down)}
    state = GateState(PaceState(rate=Level()), members)
    text = msgspec.json.encode(state).decode()
    await store.limits.exchange([Proposal("provider:shop", 0, text)], [])


async def test_a_job_behind_a_silent_host_is_slow_after_half_a_minute(store: SqliteStore):
    job = await factories.job(store, 9)
    await broken_gate(store, await factories.worker(store))
    watched = Watched(store, "shop")
    await watched.seconds(int(SLOW_S) - 5)
    assert watched.monitor.health.slow == ()
    await watched.seconds(15)
    (slow,) = watched.monitor.health.slow
    assert (slow.job_id, slow.wait.kind) == (job.id, WaitKind.BREAKER)
    assert slow.wait.why == "a.example does not answer (connection refused)"
    await store.jobs.move_job(job.id, JobMove.PAUSE)
    await watched.seconds(6)
    assert watched.monitor.health.slow == (), "it was paused"


async def test_a_job_whose_handlers_hang_is_slow(store: SqliteStore):
    job, who = await factories.job(store, 9), await factories.worker(store)
    items = await factories.claim(store, job.id, who, 2)
    await factories.finish(store, who, items[:1])
    watched = Watched(store)
    await watched.seconds(int(SLOW_S) + 10)
    (slow,) = watched.monitor.health.slow
    assert slow.job_id == job.id, "a row took 1 ms before"


async def test_a_job_that_moves_or_has_nothing_due_is_not_slow(store: SqliteStore):
    busy, who = await factories.job(store, 99), await factories.worker(store)
    idle = await factories.job(store, 1)
    (waiting,) = await factories.claim(store, idle.id, who)
    assert waiting.job_id == idle.id
    watched = Watched(store)
    for _ in range(int(SLOW_S) + 10):
        items = await factories.claim(store, busy.id, who, 1)
        done = [factories.settlement(item, ItemStatus.DONE) for item in items]
        slowly = [msgspec.structs.replace(each, ran_us=10_000_000) for each in done]
        await store.items.settle_many(SettleRequest(who, slowly))
        await watched.seconds(1)
    assert watched.monitor.health.slow == ()
