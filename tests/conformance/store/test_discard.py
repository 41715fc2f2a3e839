"""Jobs whose source turned out to be bad lose the items that were stored before."""

import pytest

from headgate.core.errors import IllegalMove, UnknownJob
from headgate.core.status import ItemStatus, JobMove, JobState
from headgate.ports.items import EnqueueRequest
from headgate.ports.reads import EventQuery
from tests.kit import factories


async def test_the_items_of_a_failed_job_are_removed_in_steps(store):
    job, kept = await factories.job(store, 7), await factories.job(store, 2)
    await store.jobs.move_job(job.id, JobMove.FAIL, "line 8: quotes never closed")
    steps = []
    while step := await store.jobs.discard_items(job.id, limit=3):
        steps.append(step)
    assert steps == [3, 3, 1]
    assert (await store.reads.counts(job.id)).total == 0
    assert (await store.reads.counts(kept.id)).total == 2
    job = await store.reads.job(job.id)
    assert (job.state, job.last_error) == (JobState.FAILED, "line 8: quotes never closed")
    kinds = [event.kind for event in await store.reads.events(EventQuery(job.id))]
    assert kinds[-3:] == ["items_discarded"] * 3


@pytest.mark.parametrize("state", sorted(set(JobState) - {JobState.FAILED}))
async def test_other_jobs_keep_their_items(store, state):
    job = await factories.job_in(store, state)
    with pytest.raises(IllegalMove, match=state):
        await store.jobs.discard_items(job.id)


async def test_what_is_unknown_is_reported(store):
    with pytest.raises(UnknownJob):
        await store.jobs.discard_items(4711)


async def test_a_result_that_comes_after_is_refused(store):
    job, who = await factories.job(store, 1), await factories.worker(store)
    leased = await factories.claim(store, job.id, who)
    await store.jobs.move_job(job.id, JobMove.FAIL, "bad")
    await store.jobs.discard_items(job.id)
    assert await factories.finish(store, who, leased, ItemStatus.DONE) == [leased[0].id]


async def test_the_source_may_be_read_again(store):
    job = await factories.job(store, 3)
    await store.jobs.move_job(job.id, JobMove.FAIL, "bad")
    await store.jobs.discard_items(job.id)
    await store.jobs.reopen_ingest(job.id, "better")
    report = await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(3), "p", ""))
    assert report.inserted == 3
