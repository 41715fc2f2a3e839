"""Chosen rows: by key, by place, failing now; and claims of chosen rows only."""

import msgspec

from headgate.core.fault import FaultClass
from headgate.core.job import NewJob
from headgate.core.retry import RetryDecision
from headgate.core.settlement import settle
from headgate.core.status import ItemMove, ItemStatus
from headgate.ports.items import ClaimRequest, HeldLease, ReviewDecision, SettleRequest
from tests.kit import factories

TRACE = '{"where":"lookup.py:12","text":"  File \\"lookup.py\\", line 12, in price\\nKeyError: é"}'
LATER = RetryDecision(
    ItemStatus.PENDING,
    "retry",
    failed=True,
    due_in_us=60_000_000,
    error_class=FaultClass.TRANSIENT,
    reason="KeyError: 'nick'",
)


async def test_a_trace_is_kept_with_its_attempt(store):
    job, who = await factories.job(store, 2), await factories.worker(store)
    first, second = await factories.claim(store, job.id, who)
    failed = factories.settlement(first, ItemStatus.ERROR)
    settlements = [
        msgspec.structs.replace(failed, trace=TRACE),
        factories.settlement(second, ItemStatus.DONE),
    ]
    await store.items.settle_many(SettleRequest(who, settlements))
    assert [each.trace for each in await store.reads.attempts(first.id)] == [TRACE]
    assert [each.trace for each in await store.reads.attempts(second.id)] == [None]


async def test_items_are_found_by_key_those_of_the_newest_job_first(store):
    old = await factories.job(store, 3, NewJob("h", "a.csv", owner="ann"))
    new = await factories.job(store, 2, NewJob("h", "b.csv", owner="bob"))
    found = await store.rows.by_key("key-2")
    assert [(row.job_id, row.key) for row in found] == [(new.id, "key-2"), (old.id, "key-2")]
    assert [row.job_id for row in await store.rows.by_key("key-2", old.id)] == [old.id]
    assert [row.job_id for row in await store.rows.by_key("key-2", None, "ann")] == [old.id]
    assert [row.key for row in await store.rows.by_key("key-3")] == ["key-3"]
    assert await store.rows.by_key("key-2", new.id, "ann") == []
    assert await store.rows.by_key("nobody's \0 key") == []


async def test_the_reason_of_a_decision_is_kept(store):
    job, who = await factories.job(store, 2), await factories.worker(store)
    first, second = await factories.claim(store, job.id, who)
    candidates = '{"candidates": [{"id": "c1", "result": {"a": 1}}]}'
    verdict = factories.VERDICTS[ItemStatus.REVIEW]
    settlements = [settle(item, verdict, candidates) for item in (first, second)]
    await store.items.settle_many(SettleRequest(who, settlements))
    assert await store.rows.decision(first.id) is None
    accepted = ReviewDecision(first.id, ItemMove.ACCEPT, "ann", "c1", reason="the same tail")
    await store.items.decide(accepted)
    await store.items.decide(ReviewDecision(second.id, ItemMove.REJECT, "bob"))
    assert await store.rows.decision(first.id) == (
        "accepted candidate c1, decided by ann: the same tail"
    )
    assert await store.rows.decision(second.id) == "rejected every candidate, decided by bob"


async def test_failing_rows_wait_for_a_retry_or_have_ended(store):
    job, who = await factories.job(store, 6), await factories.worker(store)
    other = await factories.job(store, 1)
    before = await store.rows.newest_change(job.id)
    assert before > 0
    waiting, throttled, dead, done, *_ = await factories.claim(store, job.id, who, limit=4)
    (elsewhere,) = await factories.claim(store, other.id, who)
    put_off = RetryDecision(
        ItemStatus.PENDING,
        "throttled",
        counted=False,
        throttled=True,
        due_in_us=60_000_000,
        error_class=FaultClass.THROTTLED,
        reason="429",
    )
    settlements = [
        msgspec.structs.replace(settle(waiting, LATER), trace=TRACE),
        settle(throttled, put_off),
        factories.settlement(dead, ItemStatus.ERROR),
        factories.settlement(done, ItemStatus.DONE),
        settle(elsewhere, LATER),
    ]
    await store.items.settle_many(SettleRequest(who, settlements))
    found = {row.id: row for row in await store.rows.failing(job.id, before)}
    assert set(found) == {waiting.id, dead.id}
    assert found[waiting.id].status is ItemStatus.PENDING
    assert (found[waiting.id].reason, found[waiting.id].trace) == ("KeyError: 'nick'", TRACE)
    assert found[dead.id].status is ItemStatus.ERROR
    assert found[dead.id].error_class == "permanent"
    assert await store.rows.failing(job.id, await store.rows.newest_change(job.id)) == []


async def test_a_failed_row_keeps_its_trace_when_it_is_claimed_and_handed_back(store):
    job, who = await factories.job(store, 1), await factories.worker(store)
    (item,) = await factories.claim(store, job.id, who, limit=1)
    soon = msgspec.structs.replace(LATER, due_in_us=1)
    failed = msgspec.structs.replace(settle(item, soon), trace=TRACE)
    await store.items.settle_many(SettleRequest(who, [failed]))
    (item,) = await factories.claim(store, job.id, who, limit=1)
    await store.items.release(who, [HeldLease(item.id, item.epoch)])
    (row,) = await store.rows.failing(job.id, 0)
    assert (row.reason, row.trace) == ("KeyError: 'nick'", TRACE)


async def test_rows_are_found_by_their_place(store):
    job = await factories.job(store, 3)
    await factories.job(store, 4)
    job_b = await factories.job(store, 5)
    ids = [row.id for row in await store.reads.export_rows(job_b.id, 0, 10)]
    assert await store.rows.first(job_b.id, 2) == ids[:2]
    assert await store.rows.first(job_b.id, 99) == ids
    assert await store.rows.at_places(job_b.id, [5, 1, 3]) == [ids[0], ids[2], ids[4]]
    assert await store.rows.at_places(job.id, [9]) == []


async def test_a_claim_of_chosen_items_takes_these_alone(store):
    job, who = await factories.job(store, 6, gates=("a", "b")), await factories.worker(store)
    ids = [row.id for row in await store.reads.export_rows(job.id, 0, 10)]
    chosen = (ids[1], ids[4])
    demand = await store.rows.demand_for(job.id, chosen)
    assert [each.job_id for each in demand.contenders] == [job.id]
    assert demand.open_items
    request = ClaimRequest(who, job.id, 10, 60.0, ids=chosen)
    claimed = await store.items.claim(request)
    assert [item.id for item in claimed] == list(chosen)
    assert await store.items.claim(request) == []
    running = await store.rows.demand_for(job.id, chosen)
    assert (list(running.contenders), running.open_items) == ([], True)
    settlements = [
        factories.settlement(claimed[0], ItemStatus.DONE),
        settle(claimed[1], LATER),
    ]
    await store.items.settle_many(SettleRequest(who, settlements))
    waits = await store.rows.demand_for(job.id, chosen)
    assert (list(waits.contenders), waits.open_items) == ([], True)
    assert waits.next_due_in_s is not None
    assert 0 < waits.next_due_in_s <= 60
    counts = await store.rows.counts_of(job.id, chosen)
    assert (counts.total, counts.done, counts.pending) == (2, 1, 1)
    done = await store.rows.demand_for(job.id, chosen[:1])
    assert not done.open_items
    assert list(done.finishable) == []
    suspects = ClaimRequest(who, job.id, 10, 60.0, suspects=True, ids=tuple(ids))
    assert await store.items.claim(suspects) == []
    assert len(await store.items.claim(ClaimRequest(who, job.id, 10, 60.0))) == 4


async def test_a_job_that_is_paused_has_no_demand_for_chosen_items(store):
    job = await factories.job(store, 2)
    await store.jobs.move_job(job.id, factories.JobMove.PAUSE)
    demand = await store.rows.demand_for(job.id, await store.rows.first(job.id, 2))
    assert list(demand.contenders) == []
