"""Jobs that are made once, and as many as an owner may have."""

import asyncio

import pytest

from headgate.core.errors import CapReached, KeyReused
from headgate.core.job import NewJob, Once, OwnerCaps
from headgate.core.status import JobMove
from headgate.ports.items import EnqueueRequest
from headgate.ports.reads import JobQuery
from tests.kit import factories


def new(key=None, digest="d", owner="ann", **caps):
    once = Once(key, digest) if key else None
    return NewJob("h", "f.csv", owner=owner, once=once, caps=OwnerCaps(**caps))


async def test_the_same_key_gives_the_same_job(store, other):
    job = await store.jobs.create_job(new("k"))
    assert (await other.jobs.create_job(new("k"))).id == job.id
    assert (await store.jobs.create_job(new("k", owner="bob"))).id != job.id
    assert (await store.jobs.create_job(new("k2"))).id != job.id
    assert len(await store.reads.jobs(JobQuery("ann"))) == 2


async def test_a_key_belongs_to_one_request(store):
    await store.jobs.create_job(new("k"))
    with pytest.raises(KeyReused, match="another request"):
        await store.jobs.create_job(new("k", "other"))


async def test_a_key_outlives_its_job(store):
    job = await store.jobs.create_job(new("k"))
    await factories.remove(store, job.id)
    with pytest.raises(KeyReused, match="deleted"):
        await store.jobs.create_job(new("k"))


async def test_old_keys_are_forgotten_but_not_those_of_arrivals(store, place):
    made = {key: await store.jobs.create_job(new(key)) for key in ("k", "arrival:k")}
    await store.jobs.retain(60_000_000)
    assert (await store.jobs.create_job(new("k"))).id == made["k"].id
    place.execute("UPDATE made_once SET created_at = created_at - 120000000")
    await store.jobs.retain(60_000_000)
    assert (await store.jobs.create_job(new("k"))).id != made["k"].id
    assert (await store.jobs.create_job(new("arrival:k"))).id == made["arrival:k"].id


async def test_the_same_key_at_once_makes_one_job(store, other):
    jobs = await asyncio.gather(*(each.jobs.create_job(new("k")) for each in (store, other) * 20))
    assert len({job.id for job in jobs}) == 1
    assert len(await store.reads.jobs(JobQuery())) == 1


async def test_two_hundred_at_once_make_as_many_jobs_as_allowed(store, other):
    tries = [each.jobs.create_job(new(unfinished_jobs=7)) for each in (store, other) * 100]
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(isinstance(outcome, CapReached) for outcome in outcomes) == 193
    assert len(await store.reads.jobs(JobQuery(limit=1_000))) == 7


async def test_finished_jobs_and_those_of_others_do_not_count(store):
    first = await store.jobs.create_job(new(unfinished_jobs=1))
    await store.jobs.create_job(new(owner="bob", unfinished_jobs=1))
    with pytest.raises(CapReached, match="1 unfinished"):
        await store.jobs.create_job(new(unfinished_jobs=1))
    await store.jobs.move_job(first.id, JobMove.CANCEL)
    await store.jobs.create_job(new(unfinished_jobs=1))


async def test_a_job_made_before_is_given_whatever_the_cap(store):
    job = await store.jobs.create_job(new("k", unfinished_jobs=1))
    assert (await store.jobs.create_job(new("k", unfinished_jobs=1))).id == job.id


async def test_open_items_keep_out_a_further_job(store):
    job = await store.jobs.create_job(new())
    await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(3)))
    await store.jobs.create_job(new(open_items=4))
    with pytest.raises(CapReached, match="3 open items"):
        await store.jobs.create_job(new(open_items=3))


async def test_a_batch_beyond_the_cap_is_not_stored(store):
    job = await store.jobs.create_job(new())
    await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(3), open_items_cap=3))
    rows = factories.rows(2, start=3)
    with pytest.raises(CapReached, match="4 open items"):
        await store.items.enqueue_many(EnqueueRequest(job.id, rows, "p", "", open_items_cap=3))
    counts = await store.reads.counts(job.id)
    assert (counts.total, (await store.reads.job(job.id)).ingest_position) == (3, "")
    again = EnqueueRequest(job.id, factories.rows(3), open_items_cap=1)
    assert (await store.items.enqueue_many(again)).inserted == 0


async def test_batches_at_once_stay_below_the_cap(store, other):
    jobs = [await store.jobs.create_job(new()) for _ in range(10)]
    tries = [
        each.items.enqueue_many(EnqueueRequest(job.id, factories.rows(3), open_items_cap=13))
        for job, each in zip(jobs, (store, other) * 5, strict=True)
    ]
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(isinstance(outcome, CapReached) for outcome in outcomes) == 6
    assert (await store.access.usage("ann")).open_items == 12


async def test_progress_is_reported_with_the_batch(store):
    job = await store.jobs.create_job(new())
    assert job.ingest == {}
    progress = {"rows": 3, "bytes": 100, "note": "ä"}
    await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(3), progress=progress))
    assert (await store.reads.job(job.id)).ingest == progress
    await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(4)))
    assert (await store.reads.job(job.id)).ingest == progress
