"""What a store knows of a job's progress, to explain why it waits."""

import msgspec
import pytest

from headgate.core.fault import FaultClass
from headgate.core.job import Counts
from headgate.core.retry import RetryDecision, RetryPolicy, after_crash
from headgate.core.settlement import settle
from headgate.core.status import ItemStatus
from headgate.core.waiting import COUNTED
from headgate.core.worker import WorkerInfo
from headgate.engine.clock import SystemClock
from headgate.ports.items import SettleRequest
from tests.kit import factories

MINUTE_US = 60_000_000


def put_off(kind: FaultClass, minutes: int, reason: str = "later") -> RetryDecision:
    return RetryDecision(
        ItemStatus.PENDING,
        str(kind),
        counted=False,
        due_in_us=minutes * MINUTE_US,
        error_class=kind,
        reason=reason,
    )


async def settle_all(store, who, items, verdict, gate=None):
    settlements = [
        msgspec.structs.replace(settle(item, verdict, ran_us=2_000_000), gate=gate)
        for item in items
    ]
    await store.items.settle_many(SettleRequest(who, settlements))


async def test_a_fresh_job_has_rows_that_are_due_and_no_worker(store):
    job = await factories.job(store, 3)
    at = await store.situations.of(job.id)
    assert (at.counts, at.due, list(at.deferrals)) == (Counts(pending=3), True, [])
    assert (at.finished_us, at.workers, at.others_busy) == (None, 0, False)
    assert abs(at.now_us - SystemClock().now()) < MINUTE_US


async def test_rows_that_are_due_later_are_counted_by_their_reason(store):
    job, who = await factories.job(store, 7), await factories.worker(store)
    items = await factories.claim(store, job.id, who)
    await settle_all(store, who, items[:3], put_off(FaultClass.DEFERRED, 3, "opens at 9"))
    await settle_all(store, who, items[3:4], put_off(FaultClass.DEFERRED, 2, "opens at 8"))
    await settle_all(store, who, items[4:6], put_off(FaultClass.THROTTLED, 5), "host:a.org")
    at = await store.situations.of(job.id)
    assert (at.due, at.deferred) == (False, 6)
    first, second = at.deferrals
    assert (first.error_class, first.gate, first.count) == ("deferred", "", 4)
    assert first.reason == "opens at 8", "what the next of them says"
    assert MINUTE_US < first.next_us - at.now_us <= 2 * MINUTE_US
    assert (second.error_class, second.gate, second.count) == ("throttled", "host:a.org", 2)


async def test_rows_that_are_due_later_are_counted_up_to_a_number(store):
    job, who = await factories.job(store, COUNTED + 20), await factories.worker(store)
    items = await factories.claim(store, job.id, who, COUNTED + 20)
    await settle_all(store, who, items, put_off(FaultClass.TRANSIENT, 5))
    assert (await store.situations.of(job.id)).deferred == COUNTED


@pytest.mark.parametrize(
    "status", [ItemStatus.DONE, ItemStatus.NOT_FOUND, ItemStatus.REVIEW, ItemStatus.ERROR]
)
async def test_the_last_row_that_was_finished_is_known(store, status):
    job, who = await factories.job(store, 2), await factories.worker(store)
    (item,) = await factories.claim(store, job.id, who, 1)
    assert (await store.situations.of(job.id)).finished_us is None
    await factories.finish(store, who, [item], status)
    at = await store.situations.of(job.id)
    assert at.finished_us == (await store.reads.item(item.id)).row.updated_at
    assert at.due


async def test_a_row_that_runs_alone_is_due(store):
    job, who = await factories.job(store, 1), await factories.worker(store)
    (item,) = await factories.claim(store, job.id, who)
    assert not (await store.situations.of(job.id)).due
    await settle_all(store, who, [item], after_crash(item, "SIGSEGV", RetryPolicy()))
    assert (await store.situations.of(job.id)).due


async def test_only_workers_count_that_live_and_may_take_the_job(store, place):
    job, other = await factories.job(store, 1), await factories.job(store, 1)
    info = WorkerInfo("w-1", "session", "host", "boot", 1, 1, "0.1", 10.0)
    await store.jobs.register(msgspec.structs.replace(info, id="w-2", jobs=(other.id,)))
    assert (await store.situations.of(job.id)).workers == 0
    assert (await store.situations.of(other.id)).workers == 1
    await store.jobs.register(info)
    assert (await store.situations.of(job.id)).workers == 1
    place.execute("UPDATE workers SET beat_at = beat_at - 3600000000")
    assert (await store.situations.of(job.id)).workers == 0, "its process was killed"


async def test_work_on_other_jobs_is_told(store):
    job, other = await factories.job(store, 1), await factories.job(store, 1)
    who = await factories.worker(store)
    items = await factories.claim(store, other.id, who)
    assert (await store.situations.of(job.id)).others_busy
    assert not (await store.situations.of(other.id)).others_busy
    await factories.finish(store, who, items)
    assert not (await store.situations.of(job.id)).others_busy


async def test_how_long_handlers_take_is_the_mean_of_what_was_done(store):
    job, who = await factories.job(store, 3), await factories.worker(store)
    assert await store.situations.handler_s(job.id) is None
    first, second, third = await factories.claim(store, job.id, who)
    for item, ran_us in ((first, 1_000_000), (second, 3_000_000)):
        done = settle(item, factories.VERDICTS[ItemStatus.DONE], factories.RESULT, ran_us=ran_us)
        await store.items.settle_many(SettleRequest(who, [done]))
    await settle_all(store, who, [third], put_off(FaultClass.DEFERRED, 5))
    assert await store.situations.handler_s(job.id) == pytest.approx(2.0)
