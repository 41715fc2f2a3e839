import asyncio

import msgspec
import pytest

from headgate.core.fault import FaultClass
from headgate.core.job import Counts
from headgate.core.retry import FINISHED, RetryDecision
from headgate.core.settlement import hand_back, settle
from headgate.core.status import ItemStatus
from headgate.ports.items import HeldLease, RequeueRequest, ResultColumns, SettleRequest
from headgate.ports.reads import EventQuery
from tests.kit import factories
from tests.kit.factories import RESULT, VERDICTS


@pytest.fixture
async def job(store):
    return await factories.job(store, 3)


@pytest.fixture
async def who(store):
    return await factories.worker(store)


async def discarded(store, job_id):
    return [
        event for event in await store.reads.events(EventQuery(job_id)) if event.kind == "discarded"
    ]


@pytest.mark.parametrize("status", list(VERDICTS))
async def test_a_settlement_writes_item_attempt_and_counters(store, job, who, status):
    item = (await factories.claim(store, job.id, who))[0]
    leased = await store.reads.item(item.id)
    assert await factories.finish(store, who, [item], status) == []
    verdict = VERDICTS[status]
    detail = await store.reads.item(item.id)
    assert detail.row.status is status
    assert (detail.row.locked_by, detail.leased_at, detail.deadline_at) == (None, None, None)
    assert (detail.row.attempts, detail.failures) == (1, int(verdict.failed))
    assert (detail.row.error_class, detail.row.last_error) == (verdict.error_class, verdict.reason)
    assert detail.result == (RESULT if status in {ItemStatus.DONE, ItemStatus.REVIEW} else None)
    assert detail.row.updated_at >= leased.row.updated_at
    (attempt,) = await store.reads.attempts(item.id)
    assert (attempt.number, attempt.epoch, attempt.worker) == (1, item.epoch, who)
    assert (attempt.outcome, attempt.error_class, attempt.reason) == (
        verdict.outcome,
        verdict.error_class,
        verdict.reason,
    )
    assert (attempt.leased_at, attempt.ended_at) == (leased.leased_at, detail.row.updated_at)
    assert (attempt.waited_us, attempt.ran_us, attempt.strategy) == (0, 1_000, 0)
    counts = await store.reads.counts(job.id)
    assert (counts.processing, counts.total) == (2, 3)
    assert getattr(counts, status.lower()) == 1


@pytest.mark.parametrize(
    "status", [ItemStatus.NOT_FOUND, ItemStatus.SKIPPED, ItemStatus.ERROR, ItemStatus.DONE]
)
async def test_what_is_worth_keeping_is_kept_at_every_end_and_goes_with_a_new_try(
    store, job, who, status
):
    item = (await factories.claim(store, job.id, who, 1))[0]
    settlement = settle(item, VERDICTS[status], RESULT)
    columns = [ResultColumns(job.id, ("price",))]
    await store.items.settle_many(SettleRequest(who, [settlement], columns))
    assert (await store.reads.item(item.id)).result == RESULT
    (row, *_) = await store.reads.export_rows(job.id, 0, 10)
    assert (row.status, row.result) == (status, RESULT)
    await store.items.requeue(RequeueRequest(job.id, frozenset({status})))
    assert (await store.reads.item(item.id)).result is None


async def test_a_success_clears_the_errors_before_it_and_keeps_their_history(store, job, who):
    (item, *_) = await factories.claim(store, job.id, who, 1)
    await factories.finish(store, who, [item], ItemStatus.PENDING)
    item = next(each for each in await factories.claim(store, job.id, who) if each.id == item.id)
    assert (item.attempts, item.failures) == (1, 1)
    await factories.finish(store, who, [item])
    row = (await store.reads.item(item.id)).row
    assert (row.error_class, row.last_error) == (None, None)
    attempts = await store.reads.attempts(item.id)
    assert [(each.number, each.outcome) for each in attempts] == [(1, "retry"), (2, "done")]


async def test_what_counts_as_no_attempt_keeps_the_number_for_the_next(store, job, who):
    (item, *_) = await factories.claim(store, job.id, who, 1)
    settlements = [hand_back(item, "shutdown", waited_us=5, ran_us=7)]
    await store.items.settle_many(SettleRequest(who, settlements))
    row = (await store.reads.item(item.id)).row
    assert (row.status, row.attempts, row.due_at) == (ItemStatus.PENDING, 0, 0)
    item = next(each for each in await factories.claim(store, job.id, who) if each.id == item.id)
    await factories.finish(store, who, [item])
    attempts = await store.reads.attempts(item.id)
    assert [(each.number, each.outcome) for each in attempts] == [(1, "handed_back"), (1, "done")]


async def test_a_delay_counts_from_the_stores_now(store, job, who):
    item = (await factories.claim(store, job.id, who))[0]
    later = RetryDecision(ItemStatus.PENDING, "retry", failed=True, due_in_us=5_000_000)
    await store.items.settle_many(SettleRequest(who, [settle(item, later)]))
    row = (await store.reads.item(item.id)).row
    assert row.due_at == row.updated_at + 5_000_000


async def test_normalized_input_stays_until_it_is_replaced(store, job, who):
    (item, *_) = await factories.claim(store, job.id, who, 1)
    retry = VERDICTS[ItemStatus.PENDING]
    first = settle(item, retry, normalized='{"n":"one"}')
    await store.items.settle_many(SettleRequest(who, [first]))
    item = next(each for each in await factories.claim(store, job.id, who) if each.id == item.id)
    assert item.normalized == '{"n":"one"}'
    await factories.finish(store, who, [item])
    assert (await store.reads.item(item.id)).normalized == '{"n":"one"}'


async def test_the_attempt_has_the_strategy_that_was_tried(store, job, who):
    item = (await factories.claim(store, job.id, who))[0]
    missed = RetryDecision(ItemStatus.PENDING, "not_found", missed=True, reason="nothing there")
    await store.items.settle_many(SettleRequest(who, [settle(item, missed)]))
    (attempt,) = await store.reads.attempts(item.id)
    assert (attempt.strategy, (await store.reads.item(item.id)).strategy) == (0, 1)


async def test_a_stale_epoch_changes_nothing_but_is_reported(store, job, who):
    stale = (await factories.claim(store, job.id, who))[0]
    await store.items.release(who, [HeldLease(stale.id, stale.epoch)])
    (fresh,) = await factories.claim(store, job.id, who)
    assert fresh.id == stale.id
    before = await factories.everything(store, job.id)
    counts = await store.reads.counts(job.id)
    assert await factories.finish(store, who, [stale]) == [stale.id]
    assert await factories.everything(store, job.id) == before
    assert await store.reads.counts(job.id) == counts
    assert await store.reads.attempts(stale.id) == []
    (event,) = await discarded(store, job.id)
    assert (event.item_id, who in event.message) == (stale.id, True)


async def test_another_worker_cannot_settle_a_lease(store, job, who):
    leased = await factories.claim(store, job.id, who)
    stranger = await factories.worker(store)
    before = await factories.everything(store, job.id)
    refused = await factories.finish(store, stranger, leased)
    assert sorted(refused) == sorted(item.id for item in leased)
    assert await factories.everything(store, job.id) == before


async def test_a_settlement_sent_twice_is_refused_the_second_time(store, job, who):
    leased = await factories.claim(store, job.id, who, 1)
    assert await factories.finish(store, who, leased) == []
    before = await factories.everything(store, job.id)
    assert await factories.finish(store, who, leased, ItemStatus.ERROR) == [leased[0].id]
    assert await factories.everything(store, job.id) == before


async def test_of_a_mixed_batch_only_the_lost_leases_are_refused(store, job, who):
    leased = await factories.claim(store, job.id, who)
    await store.items.release(who, [HeldLease(leased[1].id, leased[1].epoch)])
    assert await factories.finish(store, who, leased) == [leased[1].id]
    assert await store.reads.counts(job.id) == Counts(pending=1, done=2)
    assert len(await discarded(store, job.id)) == 1


async def test_the_item_of_a_deleted_job_is_refused(store, job, who):
    ghost = msgspec.structs.replace((await factories.claim(store, job.id, who))[0], id=4711)
    assert await factories.finish(store, who, [ghost]) == [4711]


async def test_one_batch_settles_items_of_several_jobs(store, job, who):
    second = await factories.job(store, 2)
    leased = await factories.claim(store, job.id, who) + await factories.claim(
        store, second.id, who
    )
    assert await factories.finish(store, who, leased[::-1]) == []
    assert await store.reads.counts(job.id) == Counts(done=3)
    assert await store.reads.counts(second.id) == Counts(done=2)


async def test_an_empty_batch_settles_nothing(store, who):
    assert list((await store.items.settle_many(SettleRequest(who, []))).refused) == []


async def test_result_columns_keep_the_order_of_first_appearance(store, job, who):
    leased = await factories.claim(store, job.id, who)
    first = SettleRequest(
        who, [settle(leased[0], FINISHED, RESULT)], [ResultColumns(job.id, ("b", "a"))]
    )
    await store.items.settle_many(first)
    second = SettleRequest(
        who, [settle(leased[1], FINISHED, RESULT)], [ResultColumns(job.id, ("c", "a"))]
    )
    await store.items.settle_many(second)
    assert await store.reads.result_columns(job.id) == ["b", "a", "c"]


NASTY = [
    'q"uo\\te {x,y}',
    "line\nbreak\ttab\r",
    "null",
    "",
    "ünïcödé 🦊",
    "'; --",
    "\\n",
]


@pytest.mark.parametrize("text", NASTY)
async def test_any_text_survives_a_settlement(store, job, who, text):
    leased = await factories.claim(store, job.id, who)
    result = msgspec.json.encode({"value": text}).decode()
    failed = RetryDecision(
        ItemStatus.ERROR, "error", failed=True, error_class=FaultClass.PERMANENT, reason=text
    )
    settlements = [
        settle(leased[0], FINISHED, result, normalized=result),
        settle(leased[1], failed),
    ]
    await store.items.settle_many(SettleRequest(who, settlements))
    done, error = [await store.reads.item(item.id) for item in leased[:2]]
    assert (done.result, done.normalized) == (result, result)
    assert error.row.last_error == text
    assert (await store.reads.attempts(error.row.id))[0].reason == text


async def test_text_that_no_database_can_store_is_kept_as_far_as_it_goes(store, job, who):
    leased = await factories.claim(store, job.id, who)
    failed = RetryDecision(
        ItemStatus.ERROR, "error", failed=True, error_class=FaultClass.PERMANENT, reason="a\x00b"
    )
    await store.items.settle_many(SettleRequest(who, [settle(leased[0], failed)]))
    reason = (await store.reads.item(leased[0].id)).row.last_error
    assert reason[0] + reason[-1] == "ab"


async def test_a_settlement_touches_no_other_item(store, job, who):
    leased = await factories.claim(store, job.id, who)
    before = await factories.everything(store, job.id)
    await factories.finish(store, who, leased[:1])
    after = await factories.everything(store, job.id)
    assert after.pop(leased[0].id) != before.pop(leased[0].id)
    assert after == before


async def test_workers_settle_at_once_without_losing_a_count(store, other):
    job = await factories.job(store, 400)
    workers = [await factories.worker(store) for _ in range(4)]

    async def work(client, who):
        while leased := await factories.claim(client, job.id, who, 9):
            assert await factories.finish(client, who, leased) == []

    clients = [store, other, store, other]
    await asyncio.gather(*(work(*pair) for pair in zip(clients, workers, strict=True)))
    assert await store.reads.counts(job.id) == Counts(done=400)
    assert await store.jobs.finish_job(job.id)
