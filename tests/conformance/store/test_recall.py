"""Results that the same work may have again."""

from msgspec.structs import replace

from headgate.core.job import NewJob
from headgate.core.status import ItemStatus
from headgate.ports.items import EnqueueRequest, RecallRequest, RequeueRequest, SettleRequest
from tests.kit import factories


async def finished(store, digests, owner="ann", status=ItemStatus.DONE):
    """A job whose items were finished under these digests; their ids."""
    job = await store.jobs.create_job(NewJob("h", "f.csv", owner=owner))
    await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(len(digests))))
    await store.jobs.complete_ingest(job.id, ("n",))
    return job, await settle_with(store, job.id, digests, status)


async def settle_with(store, job_id, digests, status=ItemStatus.DONE):
    who = await factories.worker(store)
    leased = await factories.claim(store, job_id, who)
    settlements = [
        replace(factories.settlement(item, status), digest=digest)
        for item, digest in zip(leased, digests, strict=True)
    ]
    await store.items.settle_many(SettleRequest(who, settlements))
    return [item.id for item in leased]


async def recalled(store, *digests, owner="ann", within_s=3600.0):
    found = await store.items.recall(RecallRequest(owner, digests, within_s))
    return {each.digest: each.item_id for each in found}


async def test_a_result_is_found_by_its_digest(store):
    _, ids = await finished(store, ["a", "b", None])
    assert await recalled(store, "a", "b", "c") == {"a": ids[0], "b": ids[1]}
    (found,) = await store.items.recall(RecallRequest("ann", ["a"], 60.0))
    assert found.result == factories.RESULT


async def test_a_user_does_not_see_results_of_another(store):
    _, (first,) = await finished(store, ["a"])
    _, (second,) = await finished(store, ["a"], "bob")
    assert await recalled(store, "a") == {"a": first}
    assert await recalled(store, "a", owner="bob") == {"a": second}
    assert await recalled(store, "a", owner="eve") == {}


async def test_the_newest_of_a_digest_counts(store):
    await finished(store, ["a"])
    _, (newest,) = await finished(store, ["a"])
    assert await recalled(store, "a") == {"a": newest}


async def test_twice_in_one_batch_is_kept_once(store):
    _, ids = await finished(store, ["a", "a"])
    found = await recalled(store, "a")
    assert found["a"] in ids


async def test_only_what_is_finished_well_is_kept(store):
    for status in (ItemStatus.ERROR, ItemStatus.REVIEW, ItemStatus.NOT_FOUND, ItemStatus.PENDING):
        await finished(store, ["a"], status=status)
    assert await recalled(store, "a") == {}


async def test_what_is_too_old_is_not_found(store, place):
    await finished(store, ["a"])
    place.execute("UPDATE reusable SET finished_at = finished_at - 120000000")
    assert await recalled(store, "a", within_s=60.0) == {}
    assert len(await recalled(store, "a", within_s=180.0)) == 1


async def test_what_is_done_again_is_known_by_its_new_digest_only(store):
    job, (item_id,) = await finished(store, ["a"])
    await store.items.requeue(RequeueRequest(job.id, frozenset({ItemStatus.DONE})))
    assert await recalled(store, "a") == {}
    await settle_with(store, job.id, ["b"])
    assert await recalled(store, "a", "b") == {"b": item_id}


async def test_a_lost_lease_keeps_nothing(store):
    job, who = await factories.job(store, 1), await factories.worker(store)
    (item,) = await factories.claim(store, job.id, who)
    await store.jobs.retire(who, "gone")
    late = replace(factories.settlement(item, ItemStatus.DONE), digest="a")
    assert (await store.items.settle_many(SettleRequest(who, [late]))).refused == [item.id]
    assert await recalled(store, "a", owner="local") == {}


async def test_results_go_with_their_job(store, place):
    job, _ = await finished(store, ["a"])
    await factories.remove(store, job.id)
    assert await recalled(store, "a") == {}
    assert place.execute("SELECT digest FROM reusable") == []
