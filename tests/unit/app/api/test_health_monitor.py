"""Health says whether items move, not only whether a process lives."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from headgate.app.api.monitor import Health, Monitor
from headgate.core.gates.wait import Wait, WaitKind
from headgate.core.status import ItemStatus
from headgate.engine.why import LimitedBy
from headgate.ports.items import SettleRequest
from headgate.stores.sqlite.store import SqliteStore
from headgate.testing import FakeClock
from tests.kit import factories


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


async def test_a_store_that_was_not_checked_is_not_healthy(store: SqliteStore):
    assert Monitor(store, FakeClock()).health == Health(store=False)


async def test_an_idle_store_moves(store: SqliteStore):
    clock = FakeClock()
    monitor = Monitor(store, clock)
    await clock.advance(Monitor.STALL_S * 2)
    await monitor.sample()
    assert monitor.health == Health(store=True, workers=0, claimable=False, moving=True)


async def test_items_unclaimed_for_a_minute_are_a_stall(store: SqliteStore):
    clock = FakeClock()
    monitor = Monitor(store, clock)
    worker = await factories.worker(store)
    job = await factories.job(store, 3)
    await monitor.sample()
    assert monitor.health.moving
    await clock.advance(Monitor.STALL_S + 1)
    await monitor.sample()
    assert monitor.health == Health(store=True, workers=1, claimable=True, moving=False)
    [item] = await factories.claim(store, job.id, worker, 1)
    await monitor.sample()
    assert monitor.health.moving
    done = factories.settlement(item, ItemStatus.DONE)
    await store.items.settle_many(SettleRequest(worker, [done]))
    await clock.advance(Monitor.STALL_S + 1)
    await monitor.sample()
    assert monitor.health.moving  # it finished one since the last look


async def test_the_rate_is_that_of_the_last_seconds(store: SqliteStore):
    clock = FakeClock()
    monitor = Monitor(store, clock)
    worker = await factories.worker(store)
    job = await factories.job(store, 20)
    await monitor.sample()
    assert monitor.rate(job.id) is None
    for _ in range(4):
        items = await factories.claim(store, job.id, worker, 2)
        done = [factories.settlement(item, ItemStatus.DONE) for item in items]
        await store.items.settle_many(SettleRequest(worker, done))
        await clock.advance(1.0)
        await monitor.sample()
    assert monitor.rate(job.id) == pytest.approx(2.0)
    going = LimitedBy(Wait(WaitKind.RUNNING, "nothing"))
    band = monitor.eta(job, 12, going)
    assert band is not None
    assert band.low_s == pytest.approx(6.0)
    assert monitor.heartbeat is not None
    nobody = LimitedBy(Wait(WaitKind.WORKER, "no worker is running"))
    assert monitor.eta(job, 12, nobody) is None, "it ends when somebody starts one"
