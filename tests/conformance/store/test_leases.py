import msgspec
import pytest

from headgate.core.job import Counts
from headgate.core.status import ItemStatus
from headgate.ports.items import ClaimRequest, HeldLease
from headgate.ports.reads import EventQuery
from tests.kit import factories


@pytest.fixture
async def job(store):
    return await factories.job(store, 4)


@pytest.fixture
async def who(store):
    return await factories.worker(store)


async def test_a_released_item_is_as_if_it_had_never_been_leased(store, job, who):
    leased = await factories.claim(store, job.id, who, 2)
    held = [HeldLease(item.id, item.epoch) for item in leased]
    assert await store.items.release(who, held) == 2
    assert await store.reads.counts(job.id) == Counts(pending=4)
    for item in leased:
        row = (await store.reads.item(item.id)).row
        assert (row.status, row.attempts, row.due_at) == (ItemStatus.PENDING, 0, 0)
        assert await store.reads.attempts(item.id) == []
    again = await factories.claim(store, job.id, who)
    assert [item.key for item in again] == ["key-1", "key-2", "key-3", "key-4"]


async def test_only_the_holder_of_the_epoch_can_release(store, job, who):
    (item,) = await factories.claim(store, job.id, who, 1)
    stranger = await factories.worker(store)
    assert await store.items.release(stranger, [HeldLease(item.id, item.epoch)]) == 0
    assert await store.items.release(who, [HeldLease(item.id, item.epoch + 1)]) == 0
    assert await store.items.release(who, []) == 0
    assert await store.reads.counts(job.id) == Counts(pending=3, processing=1)


async def test_leases_of_names_all_that_a_worker_holds_over_all_jobs(store, job, who):
    second = await factories.job(store, 1)
    leased = await factories.claim(store, job.id, who, 2)
    leased += await factories.claim(store, second.id, who)
    await factories.claim(store, job.id, await factories.worker(store), 1)
    held = await store.items.leases_of(who)
    assert sorted(held, key=lambda item: item.id) == leased


async def test_a_lease_is_overdue_once_its_deadline_has_passed(store, place, job, who):
    (item,) = await store.items.claim(ClaimRequest(who, job.id, 1, 30.0))
    await store.items.claim(ClaimRequest(who, job.id, 1, 90.0))
    place.pass_time(29)
    assert await store.items.overdue(10) == []
    place.pass_time(2)
    (lease,) = await store.items.overdue(10)
    assert (lease.item_id, lease.epoch, lease.worker) == (item.id, item.epoch, who)
    assert lease.lease_s == pytest.approx(30.0)
    place.pass_time(60)
    assert len(await store.items.overdue(10)) == 2
    assert len(await store.items.overdue(1)) == 1


async def test_an_extended_lease_is_overdue_later_and_is_otherwise_the_same(store, place, job, who):
    leased = await store.items.claim(ClaimRequest(who, job.id, 2, 30.0))
    first, second = (HeldLease(item.id, item.epoch) for item in leased)
    place.pass_time(20)
    before = await store.reads.item(first.item_id)
    assert await store.items.extend(who, [first], 60.0) == 1
    assert await store.items.extend(who, [second], 5.0) == 1  # it never becomes shorter
    after = await store.reads.item(first.item_id)
    assert after.deadline_at > before.deadline_at
    assert msgspec.structs.replace(after, deadline_at=before.deadline_at) == before
    place.pass_time(9)
    assert await store.items.overdue(10) == []
    place.pass_time(2)
    assert [lease.item_id for lease in await store.items.overdue(10)] == [second.item_id]
    place.pass_time(50)
    assert {lease.item_id for lease in await store.items.overdue(10)} == {
        first.item_id,
        second.item_id,
    }
    assert await factories.finish(store, who, leased) == []


async def test_only_the_holder_of_the_epoch_can_extend(store, place, job, who):
    (item,) = await store.items.claim(ClaimRequest(who, job.id, 1, 30.0))
    stranger = await factories.worker(store)
    assert await store.items.extend(stranger, [HeldLease(item.id, item.epoch)], 90.0) == 0
    assert await store.items.extend(who, [HeldLease(item.id, item.epoch + 1)], 90.0) == 0
    assert await store.items.extend(who, [], 90.0) == 0
    place.pass_time(31)
    assert [lease.item_id for lease in await store.items.overdue(10)] == [item.id]


async def test_a_retired_worker_loses_its_leases_at_once_and_without_suspicion(store, job, who):
    leased = await factories.claim(store, job.id, who, 3)
    assert await store.jobs.retire(who, "its process is gone") == 3
    assert await store.reads.counts(job.id) == Counts(pending=4)
    for item in leased:
        detail = await store.reads.item(item.id)
        assert (detail.suspect, detail.row.crashes, detail.row.attempts) == (False, 0, 0)
        assert await store.reads.attempts(item.id) == []
    (event,) = [each for each in await store.reads.events(EventQuery()) if each.kind == "rescued"]
    assert "3" in event.message
    assert who in event.message


async def test_the_late_results_of_a_retired_worker_are_refused(store, job, who):
    leased = await factories.claim(store, job.id, who, 2)
    await store.jobs.retire(who, "frozen")
    successor = await factories.worker(store)
    taken = await factories.claim(store, job.id, successor, 1)
    refused = await factories.finish(store, who, leased)
    assert sorted(refused) == sorted(item.id for item in leased)
    assert await factories.finish(store, successor, taken) == []
    assert await store.reads.counts(job.id) == Counts(pending=3, done=1)


async def test_retiring_twice_or_a_stranger_is_harmless(store, who):
    assert await store.jobs.retire(who, "gone") == 0
    stopped = (await store.reads.workers(alive_only=False))[0].stopped_at
    assert await store.jobs.retire(who, "gone again") == 0
    assert (await store.reads.workers(alive_only=False))[0].stopped_at == stopped
    assert await store.jobs.retire("stranger", "never seen") == 0
    assert not [each for each in await store.reads.events(EventQuery()) if each.kind == "rescued"]


async def test_a_heartbeat_counts_and_touches_nothing_else(store, job, who):
    await factories.claim(store, job.id, who, 2)
    before = await factories.everything(store, job.id)
    (first,) = await store.reads.workers()
    assert await store.jobs.beat({who: 40}, 25.0) == []
    (second,) = await store.reads.workers()
    assert (first.beat, second.beat, second.ttl_s) == (0, 1, 25.0)
    assert (first.claim_size, second.claim_size) == (0, 40)
    assert second.beat_at >= first.beat_at
    assert (second.leases, second.registered_at) == (2, first.registered_at)
    assert await factories.everything(store, job.id) == before


async def test_a_heartbeat_tells_who_was_declared_dead(store, who):
    alive = await factories.worker(store)
    await store.jobs.retire(who, "gone")
    dead = await store.jobs.beat({alive: 2, who: 3, "stranger": 4}, 10.0)
    assert sorted(dead) == sorted([who, "stranger"])
    assert [(row.id, row.claim_size) for row in await store.reads.workers()] == [(alive, 2)]
    assert len(await store.reads.workers(alive_only=False)) == 2


async def test_a_duty_has_one_holder_until_its_term_ends(store, other, place):
    assert await store.jobs.elect("sweep", "one", 10.0)
    assert not await other.jobs.elect("sweep", "two", 10.0)
    assert await store.jobs.elect("sweep", "one", 10.0)
    assert await other.jobs.elect("other duty", "two", 10.0)
    held = {duty.name: duty for duty in (await store.reads.status()).duties}
    assert {name: duty.holder for name, duty in held.items()} == {
        "sweep": "one",
        "other duty": "two",
    }
    assert held["sweep"].until_at > 0
    place.pass_time(11)
    assert await other.jobs.elect("sweep", "two", 10.0)
    assert not await store.jobs.elect("sweep", "one", 10.0)


async def test_a_living_worker_can_be_asked_to_drain(store, who):
    other = await factories.worker(store)
    assert await store.jobs.draining([who, other]) == []
    assert await store.jobs.ask_drain(who)
    assert await store.jobs.ask_drain(who)
    assert await store.jobs.draining([who, other]) == [who]
    assert {row.id: row.draining for row in await store.reads.workers()} == {
        who: True,
        other: False,
    }
    kinds = [event.kind for event in await store.reads.events(EventQuery())]
    assert kinds.count("worker_drain") == 2
    await store.jobs.retire(who, "finished")
    assert not await store.jobs.ask_drain(who)
    assert not await store.jobs.ask_drain("nobody")
