"""What the server remembers of jobs that it saw at work."""

from pathlib import Path

from headgate.app.api.job_readings import HistorySamples, LimitCache
from headgate.core.gates.config import GateLimits
from headgate.core.status import ItemStatus, JobMove
from headgate.ports.items import SettleRequest
from headgate.stores.sqlite.store import SqliteStore
from headgate.testing import FakeClock
from tests.kit import factories


async def test_a_job_is_noted_until_it_ended(tmp_path: Path):
    clock = FakeClock()
    async with SqliteStore(tmp_path / "headgate.db") as store:
        history_samples = HistorySamples(store, LimitCache(store, GateLimits({}), clock, {}), clock)
        worker = await factories.worker(store)
        job = await factories.job(store, 2)
        assert history_samples.of(job.id) == ()
        await history_samples.sample()
        items = await factories.claim(store, job.id, worker, 2)
        done = [factories.settlement(item, ItemStatus.DONE) for item in items]
        await store.items.settle_many(SettleRequest(worker, done))
        await store.jobs.move_job(job.id, JobMove.FINISH)
        for _ in range(3):
            await clock.advance(HistorySamples.PERIOD_S)
            await history_samples.sample()
        # Once as it began, once as it ended; then there is nothing more to note.
        assert [each.counts.done for each in history_samples.of(job.id)] == [0, 2]
        first, last = history_samples.of(job.id)
        assert last.at_us - first.at_us == HistorySamples.PERIOD_S * 1_000_000
