import asyncio

import pytest

from headgate.core.errors import IllegalMove, UnknownItem, UnknownJob
from headgate.core.job import Counts
from headgate.core.status import UNFINISHED, ItemStatus, JobMove, JobState
from headgate.ports.reads import EventQuery
from tests.kit import factories


async def test_a_cancelled_job_ends_its_open_items_and_leaves_the_others(store):
    job, who = await factories.job(store, 4), await factories.worker(store)
    leased = await factories.claim(store, job.id, who, 2)
    await factories.finish(store, who, leased[:1])
    await store.jobs.move_job(job.id, JobMove.CANCEL)
    while await store.items.cancel_items(job.id):
        pass
    assert await store.reads.counts(job.id) == Counts(done=1, cancelled=3)
    (attempt,) = await store.reads.attempts(leased[1].id)
    assert (attempt.outcome, attempt.worker, attempt.number) == ("cancelled", who, 1)
    assert await store.items.leases_of(who) == []


async def test_a_cancellation_that_was_interrupted_can_be_found(store):
    job, who = await factories.job(store, 2), await factories.worker(store)
    await factories.claim(store, job.id, who)
    assert await store.jobs.half_cancelled() == []
    await store.jobs.move_job(job.id, JobMove.CANCEL)
    assert await store.jobs.half_cancelled() == [job.id]
    await store.items.cancel_items(job.id, limit=1)
    assert await store.jobs.half_cancelled() == [job.id]
    await store.items.cancel_items(job.id)
    assert await store.jobs.half_cancelled() == []


async def test_a_result_that_comes_after_the_cancellation_is_discarded(store):
    job, who = await factories.job(store, 1), await factories.worker(store)
    leased = await factories.claim(store, job.id, who)
    await store.jobs.move_job(job.id, JobMove.CANCEL)
    await store.items.cancel_items(job.id)
    assert await factories.finish(store, who, leased) == [leased[0].id]
    assert await store.reads.counts(job.id) == Counts(cancelled=1)
    assert "discarded" in [event.kind for event in await store.reads.events(EventQuery(job.id))]


async def test_cancelling_goes_in_bounded_steps(store):
    job = await factories.job(store, 5)
    await store.jobs.move_job(job.id, JobMove.CANCEL)
    steps = []
    while step := await store.items.cancel_items(job.id, limit=2):
        steps.append(step)
    assert steps == [2, 2, 1]
    assert await store.reads.counts(job.id) == Counts(cancelled=5)


@pytest.mark.parametrize("state", sorted(set(JobState) - {JobState.CANCELLED}))
async def test_only_a_cancelled_job_loses_its_items(store, state):
    job = await factories.job_in(store, state)
    with pytest.raises(IllegalMove, match=state):
        await store.items.cancel_items(job.id)


async def test_a_deleted_job_leaves_nothing_but_its_record(store, place):
    job = await factories.job_of(store, ItemStatus.DONE, 5)
    kept = await factories.job_of(store, ItemStatus.DONE, 1)
    await store.jobs.finish_job(job.id)
    (row, *_) = await store.reads.export_rows(job.id, 0, 10)
    steps = []
    while step := await store.jobs.delete_job(job.id, limit=2):
        assert await store.reads.check(repair=False) == []
        steps.append(step)
    assert sum(steps) == 5
    assert max(steps) <= 2
    with pytest.raises(UnknownJob):
        await store.reads.job(job.id)
    with pytest.raises(UnknownItem):
        await store.reads.item(row.id)
    assert await store.reads.attempts(row.id) == []
    assert (await store.reads.counts(job.id)).total == 0
    assert place.execute(f"SELECT count(*) FROM job_counts WHERE job_id = {job.id}") == [(0,)]
    assert (await store.reads.events(EventQuery(job.id)))[-1].kind == "job_deleted"
    assert await store.reads.counts(kept.id) == Counts(done=1)
    assert await store.jobs.delete_job(job.id) == 0


@pytest.mark.parametrize("state", sorted(UNFINISHED))
async def test_an_unfinished_job_cannot_be_deleted(store, state):
    job = await factories.job_in(store, state)
    with pytest.raises(IllegalMove, match=state):
        await store.jobs.delete_job(job.id)
    assert await store.reads.job(job.id) == job


async def test_a_result_for_a_deleted_job_is_discarded(store):
    job, who = await factories.job(store, 1), await factories.worker(store)
    leased = await factories.claim(store, job.id, who)
    await store.jobs.move_job(job.id, JobMove.CANCEL)
    while await store.jobs.delete_job(job.id):
        pass
    assert await factories.finish(store, who, leased) == [leased[0].id]


async def test_no_item_survives_a_cancellation_among_claims(store, other):
    job = await factories.job(store, 200)
    who = await factories.worker(store)

    async def work():
        while leased := await factories.claim(other, job.id, who, 5):
            await factories.finish(other, who, leased, ItemStatus.PENDING)

    async def cancel():
        await asyncio.sleep(0.05)  # noqa: TID251  let the other side get going
        await store.jobs.move_job(job.id, JobMove.CANCEL)
        while await store.items.cancel_items(job.id, limit=50):
            pass

    await asyncio.gather(work(), cancel())
    assert await store.reads.counts(job.id) == Counts(cancelled=200)
