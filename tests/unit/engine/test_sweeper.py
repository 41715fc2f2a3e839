"""The sweeper cleans up after dead workers and deletes old records; living workers are safe."""

import os
from pathlib import Path

import pytest

from headgate.app.telemetry import LogObserver
from headgate.core.status import JobMove
from headgate.core.worker import WorkerInfo
from headgate.engine.policy import RetentionPolicy
from headgate.engine.process import boot_id, process_name, this_host
from headgate.engine.sweeper import DAY_US, Sweeper
from headgate.ports.reads import EventQuery
from headgate.stores.sqlite.store import SqliteStore
from headgate.testing import FakeClock
from tests.kit import factories
from tests.kit.observer import SpyObserver

START_US = 1_800_000_000_000_000


async def test_records_older_than_the_retention_are_deleted_and_younger_ones_kept(tmp_path):
    now_us = START_US
    clock = FakeClock(START_US)
    async with SqliteStore(tmp_path / "store.db", now=lambda: now_us) as store:
        await store.jobs.record_event("test", "old")
        now_us += 20 * DAY_US
        await store.jobs.record_event("test", "young")
        now_us += 20 * DAY_US
        sweeper = Sweeper(store, clock, LogObserver("error"), "me", RetentionPolicy(days=30))
        await sweeper.run_once(frozenset())
        assert [event.message for event in await store.reads.events(EventQuery())] == ["young"]


async def test_the_sweeper_looks_for_old_records_once_an_hour(tmp_path):
    now_us = START_US
    clock = FakeClock(START_US)
    async with SqliteStore(tmp_path / "store.db", now=lambda: now_us) as store:
        sweeper = Sweeper(store, clock, LogObserver("error"), "me", RetentionPolicy(days=1))
        await sweeper.run_once(frozenset())
        await store.jobs.record_event("test", "old")
        now_us += 2 * DAY_US
        await sweeper.run_once(frozenset())
        assert len(await store.reads.events(EventQuery())) == 1
        await clock.advance(Sweeper.RETAIN_S)
        await sweeper.run_once(frozenset())
        assert await store.reads.events(EventQuery()) == []


async def test_a_cancellation_that_was_interrupted_is_finished(tmp_path):
    clock = FakeClock(START_US)
    async with SqliteStore(tmp_path / "store.db") as store:
        job = await factories.job(store, 3)
        await store.jobs.move_job(job.id, JobMove.CANCEL)
        sweeper = Sweeper(store, clock, LogObserver("error"), "me")
        await sweeper.run_once(frozenset())
        assert (await store.reads.counts(job.id)).cancelled == 3


# ---- who is dead -------------------------------------------------------------------------------


async def a_lease(store: SqliteStore, worker: WorkerInfo) -> int:
    """A worker with two items in hand; the job's id."""
    job = await factories.job(store, 2)
    await store.jobs.register(worker)
    assert len(await factories.claim(store, job.id, worker.id)) == 2
    return job.id


def a_worker(host: str, pid: int, ticks: int, boot: str = "") -> WorkerInfo:
    return WorkerInfo("other", "s", host, boot or boot_id(), pid, ticks, "0", 10.0)


def living() -> WorkerInfo:
    me = process_name(os.getpid())
    return a_worker(me.host, me.pid, me.started_ticks)


@pytest.mark.parametrize(
    "dead",
    [
        a_worker(this_host(), os.getpid(), 1),
        a_worker(this_host(), 2**22 + 1, 1),
        a_worker(this_host(), os.getpid(), 1, boot="before the restart"),
    ],
    ids=["pid in new hands", "no such process", "another boot"],
)
async def test_a_dead_process_of_this_machine_is_swept_at_the_second_look(
    tmp_path: Path, dead: WorkerInfo
):
    """The first time its own supervisor may be about to say what it died of."""
    clock = FakeClock(START_US)
    async with SqliteStore(tmp_path / "store.db") as store:
        job_id = await a_lease(store, dead)
        sweeper = Sweeper(store, clock, SpyObserver(), "me")
        assert await sweeper.due(frozenset()) == 0
        await clock.advance(Sweeper.CONFIRM_S - 0.1)
        assert await sweeper.run_once(frozenset()) == 0
        await clock.advance(0.2)
        assert await sweeper.due(frozenset()) == 2
        assert (await store.reads.counts(job_id)).pending == 2
        assert [row.reason for row in await store.reads.attempts(1)] == []


async def test_dead_workers_of_this_machine_are_swept_without_an_election(tmp_path: Path):
    clock = FakeClock(START_US)
    async with SqliteStore(tmp_path / "store.db") as store:
        await a_lease(store, a_worker(this_host(), 2**22 + 1, 1))
        assert await store.jobs.elect(Sweeper.DUTY, "a command that was killed", 3_600)
        sweeper = Sweeper(store, clock, SpyObserver(), "me")
        await sweeper.run_once(frozenset())
        await clock.advance(1)
        assert await sweeper.run_once(frozenset()) == 2


async def test_a_worker_of_another_machine_is_dead_after_its_time_without_a_heartbeat(
    tmp_path: Path,
):
    clock = FakeClock(START_US)
    async with SqliteStore(tmp_path / "store.db") as store:
        await a_lease(store, a_worker("elsewhere", 1, 1))
        sweeper = Sweeper(store, clock, SpyObserver(), "me")
        for _ in range(5):  # fifty seconds with a heartbeat now and then
            await store.jobs.beat({"other": 1}, 10.0)
            assert await sweeper.run_once(frozenset()) == 0
            await clock.advance(9.9)
            assert await sweeper.run_once(frozenset()) == 0
            await clock.advance(0.1)
        await clock.advance(0.2)
        assert await sweeper.run_once(frozenset()) == 2


async def test_living_workers_and_our_own_are_not_swept(tmp_path: Path):
    clock = FakeClock(START_US)
    async with SqliteStore(tmp_path / "store.db") as store:
        await a_lease(store, living())
        sweeper = Sweeper(store, clock, SpyObserver(), "me")
        for _ in range(20):
            assert await sweeper.run_once(frozenset({"other"})) == 0
            await clock.advance(5)


async def test_a_sweeper_that_is_not_elected_declares_no_worker_dead(tmp_path: Path):
    clock = FakeClock(START_US)
    async with SqliteStore(tmp_path / "store.db") as store:
        await a_lease(store, a_worker("elsewhere", 1, 1))
        assert await store.jobs.elect(Sweeper.DUTY, "somebody else", 3_600)
        sweeper = Sweeper(store, clock, SpyObserver(), "me")
        for _ in range(5):
            assert await sweeper.run_once(frozenset()) == 0
            await clock.advance(5)


async def test_a_worker_that_is_gone_from_the_store_is_forgotten(tmp_path: Path):
    clock = FakeClock(START_US)
    async with SqliteStore(tmp_path / "store.db") as store:
        await a_lease(store, a_worker(this_host(), 2**22 + 1, 1))
        sweeper = Sweeper(store, clock, SpyObserver(), "me")
        await sweeper.run_once(frozenset())
        await store.jobs.retire("other", "its own supervisor spoke first")
        await clock.advance(5)
        assert await sweeper.run_once(frozenset()) == 0
        assert (sweeper._gone, sweeper._beats) == ({}, {})
