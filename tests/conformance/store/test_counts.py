import pytest

from headgate.core.job import Counts
from headgate.core.status import ItemStatus
from tests.kit import factories


@pytest.mark.parametrize("status", list(ItemStatus))
async def test_counters_follow_every_status(store, status):
    job = await factories.job_of(store, status, 3)
    assert await store.reads.counts(job.id) == Counts(**{status.lower(): 3})


async def test_a_job_without_items_counts_nothing(store):
    job = await factories.job(store)
    assert await store.reads.counts(job.id) == Counts()


async def test_a_wrong_counter_is_found_named_and_mended(store, place):
    job = await factories.job_of(store, ItemStatus.DONE, 3)
    place.execute(f"UPDATE job_counts SET n = n + 2 WHERE job_id = {job.id} AND status = 'DONE'")
    (finding,) = await store.reads.check(repair=False)
    assert (finding.repairable, finding.repaired) == (True, False)
    assert all(word in finding.problem for word in (f"job {job.id}", "DONE", "5", "3"))
    (mended,) = await store.reads.check(repair=True)
    assert mended.repaired
    assert await store.reads.counts(job.id) == Counts(done=3)


async def test_a_lease_without_a_living_worker_is_found_and_returned(store, place):
    job, who = await factories.job(store, 2), await factories.worker(store)
    await factories.claim(store, job.id, who)
    place.execute(f"DELETE FROM workers WHERE id = '{who}'")
    (finding,) = await store.reads.check(repair=False)
    assert (finding.repairable, who in finding.problem) == (True, True)
    await store.reads.check(repair=True)
    assert await store.reads.counts(job.id) == Counts(pending=2)


async def test_a_job_that_is_done_too_early_is_found(store, place):
    job = await factories.job(store, 1)
    place.execute(f"UPDATE jobs SET state = 'DONE', finished_at = 1 WHERE id = {job.id}")
    (finding,) = await store.reads.check(repair=False)
    assert f"job {job.id} is DONE" in finding.problem
    place.execute(f"UPDATE jobs SET state = 'QUEUED', finished_at = NULL WHERE id = {job.id}")


async def test_a_missing_history_is_found(store, place):
    await factories.job_of(store, ItemStatus.DONE)
    kept = place.execute("SELECT item_id FROM attempts")
    place.execute("UPDATE attempts SET item_id = item_id + 1000")
    problems = " ".join(finding.problem for finding in await store.reads.check(repair=False))
    assert "1 attempt without an item" in problems
    assert f"item {kept[0][0]} counts 1 attempt," in problems
    place.execute("UPDATE attempts SET item_id = item_id - 1000")


async def test_decisions_and_results_without_their_item_are_found(store, place):
    await factories.job_of(store, ItemStatus.ERROR)
    place.execute("INSERT INTO decisions VALUES (4711, 1, 'reject', NULL, 'ann', 0, '')")
    place.execute("INSERT INTO reusable VALUES ('ann', 'a', 1, 4711, 0), ('ann', 'b', 1, 1, 0)")
    problems = [finding.problem for finding in await store.reads.check(repair=False)]
    assert problems == [
        "1 decision without an item",
        "2 kept results without an item",
    ]
    place.execute("DELETE FROM decisions")
    place.execute("DELETE FROM reusable")


async def test_a_key_that_leads_to_no_item_is_found(store, place):
    if place.kind == "sqlite":
        pytest.skip("the key is an index of the item itself")
    await factories.job(store, 2)
    place.execute("UPDATE item_keys SET item_id = item_id + 1000 WHERE item_id = 1")
    (finding,) = await store.reads.check(repair=False)
    assert "2 keys and items do not belong together" in finding.problem
    place.execute("UPDATE item_keys SET item_id = item_id - 1000 WHERE item_id > 1000")


async def test_status_tells_what_is_there(store, place):
    await factories.job_of(store, ItemStatus.DONE, 3)
    status = await store.reads.status()
    assert (status.jobs, status.items, status.counts) == (1, 3, Counts(done=3))
    assert status.duties == []
    assert status.schema == status.latest_schema >= 1
    assert status.size_bytes > 0
    assert status.version
    assert place.kind in status.kind
    if place.kind == "postgres":
        assert place.url.split("@")[1] in status.location
        assert "***" in status.location
