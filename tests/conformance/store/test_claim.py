import asyncio

import pytest

from headgate.core.job import Counts, NewJob
from headgate.core.retry import RetryDecision
from headgate.core.settlement import settle
from headgate.core.status import ItemStatus, JobMove, JobState
from headgate.ports.items import ClaimRequest, EnqueueRequest, HeldLease, SettleRequest
from headgate.ports.reads import EventQuery
from tests.kit import factories


async def test_items_are_leased_in_input_order(store):
    job, who = await factories.job(store, 5), await factories.worker(store)
    first = await factories.claim(store, job.id, who, 3)
    rest = await factories.claim(store, job.id, who, 3)
    assert [item.key for item in first + rest] == [f"key-{line}" for line in range(1, 6)]
    assert [item.input for item in first] == ['{"n":1}', '{"n":2}', '{"n":3}']
    assert await factories.claim(store, job.id, who) == []


async def test_a_lease_names_worker_epoch_and_deadline(store):
    job, who = await factories.job(store, 1), await factories.worker(store)
    (item,) = await store.items.claim(ClaimRequest(who, job.id, 1, 90.0))
    detail = await store.reads.item(item.id)
    assert (detail.row.status, detail.row.locked_by) == (ItemStatus.PROCESSING, who)
    assert detail.epoch == item.epoch == 1
    assert detail.leased_at == detail.row.updated_at
    assert detail.deadline_at - detail.leased_at == 90_000_000


async def test_each_lease_has_a_greater_epoch(store):
    job, who = await factories.job(store, 1), await factories.worker(store)
    epochs = []
    for _ in range(3):
        leased = await factories.claim(store, job.id, who)
        epochs.append(leased[0].epoch)
        await factories.finish(store, who, leased, ItemStatus.PENDING)
    assert epochs == [1, 2, 3]


async def test_the_first_claim_starts_the_job_and_says_so_once(store):
    job, who = await factories.job(store, 2), await factories.worker(store)
    await factories.claim(store, job.id, who, 1)
    started = await store.reads.job(job.id)
    assert started.state is JobState.RUNNING
    assert started.started_at is not None
    await factories.claim(store, job.id, who, 1)
    assert await store.reads.job(job.id) == started
    events = [event.message for event in await store.reads.events(EventQuery(job.id))]
    assert events.count("started") == 1


async def test_a_claim_that_finds_nothing_does_not_start_the_job(store):
    job, who = await factories.job(store), await factories.worker(store)
    assert await factories.claim(store, job.id, who) == []
    assert await store.reads.job(job.id) == job


@pytest.mark.parametrize(
    "move", [JobMove.PAUSE, JobMove.CANCEL, JobMove.FAIL, JobMove.REOPEN_INGEST]
)
async def test_a_job_that_is_not_claimable_gives_nothing(store, move):
    job, who = await factories.job(store, 2), await factories.worker(store)
    await store.jobs.move_job(job.id, move)
    assert await factories.claim(store, job.id, who) == []
    assert await store.reads.counts(job.id) == Counts(pending=2)


async def test_claims_wait_for_the_end_of_ingest_unless_the_job_is_eager(store):
    who = await factories.worker(store)
    for eager in (False, True):
        job = await store.jobs.create_job(NewJob("h", f"eager-{eager}", eager=eager))
        await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(1)))
        assert len(await factories.claim(store, job.id, who)) == eager
        assert (await store.reads.job(job.id)).state is JobState.INGESTING


async def test_an_unknown_worker_and_a_retired_one_get_nothing(store):
    job = await factories.job(store, 1)
    assert await factories.claim(store, job.id, "nobody") == []
    who = await factories.worker(store)
    await store.jobs.retire(who, "gone")
    assert await factories.claim(store, job.id, who) == []
    assert await factories.claim(store, 4711, await factories.worker(store)) == []


async def test_an_item_is_leased_when_it_is_due_and_not_before(store, place):
    job, who = await factories.job(store, 1), await factories.worker(store)
    (item,) = await factories.claim(store, job.id, who)
    later = RetryDecision(ItemStatus.PENDING, "throttled", throttled=True, due_in_us=60_000_000)
    await store.items.settle_many(SettleRequest(who, [settle(item, later)]))
    assert await factories.claim(store, job.id, who) == []
    place.pass_time(59)
    assert await factories.claim(store, job.id, who) == []
    place.pass_time(2)
    assert [each.id for each in await factories.claim(store, job.id, who)] == [item.id]


async def put_off(store, who, items, seconds=10):
    """These fail, the first of them first, and are due again after a while."""
    for place, item in enumerate(items):
        due_in_us = seconds * 1_000_000 + place
        later = RetryDecision(
            ItemStatus.PENDING, "retry", failed=True, due_in_us=due_in_us, error_class="transient"
        )
        await store.items.settle_many(SettleRequest(who, [settle(item, later)]))


def lines(items):
    return [int(item.key.removeprefix("key-")) for item in items]


async def mixed(store, job, who, limit, retries):
    return await store.items.claim(ClaimRequest(who, job.id, limit, 60.0, retries=retries))


async def test_retries_that_are_due_and_fresh_rows_share_a_claim(store, place):
    job, who = await factories.job(store, 20), await factories.worker(store)
    await put_off(store, who, await factories.claim(store, job.id, who, 6))
    assert lines(await mixed(store, job, who, 2, 2)) == [7, 8], "none is due yet"
    place.pass_time(11)
    claimed = await mixed(store, job, who, 6, 2)
    assert lines(item for item in claimed if not item.attempts) == [9, 10, 11, 12], "input order"
    assert lines(item for item in claimed if item.attempts) == [1, 2], "by due time"
    assert sorted(lines(await mixed(store, job, who, 100, 1))) == [3, 4, 5, 6, *range(13, 21)]


async def elsewhere(store, job, who, skipped, limit=1):
    return await store.items.claim(ClaimRequest(who, job.id, limit, 60.0, skipped=skipped))


async def test_a_claim_may_pass_over_a_part_of_the_fresh_rows(store, place):
    job, who = await factories.job(store, 21), await factories.worker(store)
    assert lines(await elsewhere(store, job, who, 0.5)) == [11]
    assert lines(await elsewhere(store, job, who, 0.999, 2)) == [20, 21]
    assert lines(await factories.claim(store, job.id, who, 3)) == [1, 2, 3], "in input order again"
    assert lines(await elsewhere(store, job, who, 0.0)) == [4]


async def test_where_no_fresh_row_is_left_to_pass_over_retries_are_claimed(store, place):
    job, who = await factories.job(store, 3), await factories.worker(store)
    await put_off(store, who, await factories.claim(store, job.id, who, 3))
    place.pass_time(11)
    assert lines(await elsewhere(store, job, who, 0.7)) == [1]


async def test_a_claim_of_one_item_is_for_either_kind(store, place):
    job, who = await factories.job(store, 20), await factories.worker(store)
    await put_off(store, who, await factories.claim(store, job.id, who, 6))
    place.pass_time(11)
    for retries, expected in ((0, [7]), (1, [1]), (0, [8]), (9, [2])):
        assert lines(await mixed(store, job, who, 1, retries)) == expected


@pytest.mark.parametrize("retries", [0, 1, 5, 8])
async def test_where_one_kind_has_too_few_the_other_fills_up(store, place, retries):
    job, who = await factories.job(store, 9), await factories.worker(store)
    await put_off(store, who, await factories.claim(store, job.id, who, 7))
    place.pass_time(11)
    first = lines(await mixed(store, job, who, 8, retries))
    assert len(first) == 8
    rest = lines(await mixed(store, job, who, 8, retries))
    assert sorted(first + rest) == list(range(1, 10))
    assert await mixed(store, job, who, 8, retries) == []


async def test_a_retry_does_not_wait_for_the_end_of_the_input(store, place):
    job, who = await factories.job(store, 400), await factories.worker(store)
    (first,) = await factories.claim(store, job.id, who, 1)
    await put_off(store, who, [first])
    place.pass_time(11)
    assert 1 in lines(await mixed(store, job, who, 10, 1))


async def test_retries_do_not_hold_up_fresh_rows(store, place):
    job, who = await factories.job(store, 400), await factories.worker(store)
    await put_off(store, who, await factories.claim(store, job.id, who, 300))
    place.pass_time(11)
    claimed = await mixed(store, job, who, 50, 3)
    assert sum(not item.attempts for item in claimed) == 47


async def test_a_claim_tells_how_long_an_item_has_been_throttled(store, place):
    job, who = await factories.job(store, 1), await factories.worker(store)
    throttled = RetryDecision(ItemStatus.PENDING, "throttled", counted=False, throttled=True)
    (item,) = await factories.claim(store, job.id, who)
    assert item.throttled_us == 0
    for hours in (1, 2):
        await store.items.settle_many(SettleRequest(who, [settle(item, throttled)]))
        place.pass_time(3_600)
        (item,) = await factories.claim(store, job.id, who)
        assert 0 <= item.throttled_us - hours * 3_600_000_000 < 60_000_000


async def test_suspects_are_leased_only_when_asked_for(store):
    job, who = await factories.job(store, 2), await factories.worker(store)
    leased = await factories.claim(store, job.id, who)
    crashed = RetryDecision(
        ItemStatus.PENDING, "crashed", counted=False, crashed=True, alone=True, error_class="poison"
    )
    await store.items.settle_many(SettleRequest(who, [settle(leased[0], crashed)]))
    await store.items.release(who, [HeldLease(leased[1].id, leased[1].epoch)])
    assert [item.id for item in await factories.claim(store, job.id, who)] == [leased[1].id]
    (suspect,) = await factories.claim(store, job.id, who, suspects=True)
    assert (suspect.id, suspect.suspect, suspect.crashes) == (leased[0].id, True, 1)


async def test_two_workers_never_hold_the_same_item(store, other):
    job = await factories.job(store, 300)
    first, second = await factories.worker(store), await factories.worker(store)

    async def take(client, who):
        taken = []
        while leased := await factories.claim(client, job.id, who, 7):
            taken += [(item.id, item.epoch) for item in leased]
        return taken

    one, two = await asyncio.gather(take(store, first), take(other, second))
    assert len(one) + len(two) == 300
    assert len(set(one) | set(two)) == 300


async def test_consecutive_leases_of_one_worker_never_overlap_and_all_are_delivered(store):
    job, who = await factories.job(store, 50), await factories.worker(store)
    batches = [await factories.claim(store, job.id, who, 10) for _ in range(6)]
    delivered = [(item.id, item.epoch) for batch in batches for item in batch]
    assert len(set(delivered)) == len(delivered) == 50
    held = await store.items.leases_of(who)
    assert sorted((item.id, item.epoch) for item in held) == sorted(delivered)


async def test_claims_at_once_by_one_worker_deliver_every_lease_once(store):
    job, who = await factories.job(store, 60), await factories.worker(store)
    batches = await asyncio.gather(*(factories.claim(store, job.id, who, 10) for _ in range(8)))
    delivered = [item.id for batch in batches for item in batch]
    assert len(set(delivered)) == len(delivered) == 60
