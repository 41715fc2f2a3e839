"""What operators do to jobs, on a real store."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from headgate.core.errors import IllegalMove, UnknownJob
from headgate.core.item import NewItem
from headgate.core.job import Job, NewJob
from headgate.core.status import ItemStatus, JobState
from headgate.engine.job_control import DELETION, PAGE, JobControl
from headgate.ports.items import EnqueueRequest, RequeueRequest
from headgate.ports.reads import EventQuery, ItemQuery
from headgate.ports.store import Store
from headgate.stores.sqlite.store import SqliteStore

ERRORS = frozenset({ItemStatus.ERROR})


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


async def a_job(store: Store, good: int = 3, bad: int = 2) -> Job:
    """A job whose source is read; bad rows are in ERROR from the start."""
    job = await store.jobs.create_job(NewJob("price", "products.csv"))
    items = [NewItem(f"good-{n}", "{}", n) for n in range(good)]
    items += [NewItem(f"bad-{n}", "{}", 100 + n, problem="two columns") for n in range(bad)]
    await store.items.enqueue_many(EnqueueRequest(job.id, items, "end", ""))
    return await store.jobs.complete_ingest(job.id, ("sku",))


async def test_pause_and_resume(store: Store):
    job = await a_job(store)
    control = JobControl(store)
    assert (await control.pause(job.id)).state is JobState.PAUSED
    assert (await control.resume(job.id)).state is JobState.QUEUED


async def test_a_pause_while_reading_resumes_to_reading(store: Store):
    job = await store.jobs.create_job(NewJob("price", "products.csv"))
    control = JobControl(store)
    await control.pause(job.id)
    assert (await control.resume(job.id)).state is JobState.INGESTING


async def test_a_paused_queue_resumes_to_work(store: Store):
    job = await store.jobs.create_job(NewJob("price", "queue:q", open=True))
    control = JobControl(store)
    await control.pause(job.id)
    assert (await control.resume(job.id)).state is JobState.QUEUED


async def test_cancel_leaves_no_item_open_and_keeps_finished_items(store: Store):
    job = await a_job(store)
    assert (await JobControl(store).cancel(job.id)).state is JobState.CANCELLED
    counts = await store.reads.counts(job.id)
    assert (counts.open, counts.cancelled, counts.error) == (0, 3, 2)


async def test_a_finished_job_cannot_be_cancelled(store: Store):
    job = await a_job(store)
    await JobControl(store).cancel(job.id)
    with pytest.raises(IllegalMove):
        await JobControl(store).cancel(job.id)


async def test_reprocess_goes_over_all_steps(store: Store):
    job = await a_job(store, good=1, bad=7)
    request = RequeueRequest(job.id, ERRORS, "bad_row", limit=2)
    control = JobControl(store)
    assert await control.would_reprocess(request) == 7
    assert await control.reprocess(request) == 7
    counts = await store.reads.counts(job.id)
    assert (counts.pending, counts.error) == (8, 0)


async def test_bad_rows_are_reprocessed_only_on_request(store: Store):
    job = await a_job(store, good=1, bad=2)
    await JobControl(store).cancel(job.id)
    control = JobControl(store)
    everything = RequeueRequest(job.id, frozenset({ItemStatus.ERROR, ItemStatus.CANCELLED}))
    assert await control.would_reprocess(everything) == 1
    assert await control.reprocess(everything) == 1
    assert (await store.reads.counts(job.id)).error == 2
    assert await control.would_reprocess(RequeueRequest(job.id, ERRORS)) == 0
    assert await control.reprocess(RequeueRequest(job.id, ERRORS)) == 0


async def test_reprocess_by_class_and_by_ids(store: Store):
    job = await a_job(store)
    control = JobControl(store)
    other_class = RequeueRequest(job.id, ERRORS, error_class="timeout")
    assert await control.would_reprocess(other_class) == 0
    assert await control.reprocess(other_class) == 0
    assert await control.would_reprocess(RequeueRequest(job.id, ERRORS, "bad_row")) == 2
    bad = (await store.reads.items(ItemQuery(job.id, ERRORS))).items
    good_too = RequeueRequest(job.id, ERRORS, ids=(bad[0].id, 1))
    assert await control.would_reprocess(good_too) == 1
    assert await control.reprocess(good_too) == 1


async def test_the_events_say_which_user_asked(store: Store):
    job = await a_job(store)
    control = JobControl(store)
    await control.pause(job.id, "ann")
    await control.resume(job.id, "bob")
    await control.set_priority(job.id, 3, "carl")
    await control.reprocess(RequeueRequest(job.id, ERRORS), "dora")
    await control.cancel(job.id, "eve")
    events = await store.reads.events(EventQuery(job.id))
    asked = [event.message for event in events if "asked for by" in event.message]
    assert asked == [
        "QUEUED → PAUSED: asked for by ann",
        "PAUSED → QUEUED: asked for by bob",
        "priority 3, asked for by carl",
        "items in ERROR set back to PENDING, asked for by dora",
        "QUEUED → CANCELLED: asked for by eve",
    ]


async def test_reprocess_by_kind_text_and_attempts(store: Store):
    job = await a_job(store, bad=4)
    control = JobControl(store)
    for filters, expected in (
        ({"signature": "bad_row: two columns"}, 4),
        ({"signature": "bad_row: two columns", "text": "bad-3"}, 1),
        ({"signature": "bad_row: two columns", "below_attempts": 0}, 0),
        ({"text": "bad"}, 0),
    ):
        request = RequeueRequest(job.id, ERRORS, limit=3, **filters)
        assert await control.would_reprocess(request) == expected
    request = RequeueRequest(job.id, ERRORS, signature="bad_row: two columns", text="BAD-3")
    assert await control.reprocess(request) == 1


async def test_remove_deletes_everything_of_a_job(store: Store):
    job = await a_job(store)
    kept = await a_job(store)
    await JobControl(store).remove(job.id)
    with pytest.raises(UnknownJob):
        await store.reads.job(job.id)
    assert (await store.reads.counts(job.id)).total == 0
    assert (await store.reads.counts(kept.id)).total == 5
    assert await store.reads.check(repair=False) == []


async def test_a_job_that_finishes_while_it_is_deleted_is_deleted(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    job = await store.jobs.create_job(NewJob("price", "queue:q", name="q", open=True))
    read = store.reads.job

    async def outdated(job_id: int) -> Job:
        """The state of the job just before it finishes."""
        before = await read(job_id)
        if before.state is not JobState.DONE:
            await JobControl(store).close(job_id)
        return before

    monkeypatch.setattr(store.reads, "job", outdated)
    await JobControl(store).remove(job.id)
    with pytest.raises(UnknownJob):
        await read(job.id)


async def test_a_cancellation_says_whether_it_is_part_of_a_deletion(store: Store):
    control = JobControl(store)
    jobs = [await a_job(store), await a_job(store)]
    await control.cancel(jobs[0].id)
    assert not await control.cancelled_to_delete(jobs[0].id)
    await control.cancel(jobs[1].id, why=DELETION)
    for number in range(PAGE):
        await store.jobs.record_event("noted", str(number), jobs[1].id)
    assert await control.cancelled_to_delete(jobs[1].id)


async def test_an_empty_queue_that_is_closed_is_done(store: Store):
    job = await store.jobs.create_job(NewJob("price", "queue:q", name="q", open=True))
    await JobControl(store).close(job.id)
    assert (await store.reads.job(job.id)).state is JobState.DONE
