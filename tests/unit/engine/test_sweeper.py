"""The sweeper puts right what died and forgets what is old; nothing that lives is touched."""

from headgate.app.telemetry import LogObserver
from headgate.core.status import JobMove
from headgate.engine.policy import RetentionPolicy
from headgate.engine.sweeper import DAY_US, Sweeper
from headgate.stores.sqlite.store import SqliteStore
from headgate.testing import FakeClock
from tests.kit import factories

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
        assert [event.message for event in await store.reads.events(None)] == ["young"]


async def test_old_records_are_looked_for_once_an_hour(tmp_path):
    now_us = START_US
    clock = FakeClock(START_US)
    async with SqliteStore(tmp_path / "store.db", now=lambda: now_us) as store:
        sweeper = Sweeper(store, clock, LogObserver("error"), "me", RetentionPolicy(days=1))
        await sweeper.run_once(frozenset())
        await store.jobs.record_event("test", "old")
        now_us += 2 * DAY_US
        await sweeper.run_once(frozenset())
        assert len(await store.reads.events(None)) == 1
        await clock.advance(Sweeper.RETAIN_S)
        await sweeper.run_once(frozenset())
        assert await store.reads.events(None) == []


async def test_a_cancellation_that_was_cut_short_is_finished(tmp_path):
    clock = FakeClock(START_US)
    async with SqliteStore(tmp_path / "store.db") as store:
        job = await factories.job(store, 3)
        await store.jobs.move_job(job.id, JobMove.CANCEL)
        sweeper = Sweeper(store, clock, LogObserver("error"), "me")
        await sweeper.run_once(frozenset())
        assert (await store.reads.counts(job.id)).cancelled == 3
