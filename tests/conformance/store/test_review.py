"""What people decide about items in REVIEW."""

import asyncio

import pytest

from headgate.core.errors import IllegalMove, UnknownItem, UsageError
from headgate.core.item import NewItem
from headgate.core.job import NewJob
from headgate.core.settlement import settle
from headgate.core.status import ItemMove, ItemStatus
from headgate.ports.items import EnqueueRequest, RequeueRequest, ReviewDecision, SettleRequest
from headgate.ports.reads import EventQuery
from tests.kit import factories

CANDIDATES = """{"candidates": [
    {"id": "c1", "name": "Ünited", "score": 0.5, "result": {"iata": "UA", "näme": "Ünited"}},
    {"id": 2, "name": "Delta", "score": 0.4, "result": {"iata": "DL"}},
    {"id": "bare"}, {"name": "nameless"}, "no mapping",
    {"id": "twice", "result": {}}, {"id": "twice", "result": {}},
    {"id": "odd", "result": [1]}
]}"""


async def in_review(store, items=1, owner="ann"):
    """A job with items to be decided, and their ids."""
    job = await store.jobs.create_job(NewJob("h", "f.csv", owner=owner))
    await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(items)))
    await store.jobs.complete_ingest(job.id, ("n",))
    return job, await ask(store, job.id)


async def ask(store, job_id):
    who = await factories.worker(store)
    leased = await factories.claim(store, job_id, who)
    verdict = factories.VERDICTS[ItemStatus.REVIEW]
    settlements = [settle(item, verdict, CANDIDATES) for item in leased]
    await store.items.settle_many(SettleRequest(who, settlements))
    return [item.id for item in leased]


def accept(item_id, candidate="c1", **values):
    return ReviewDecision(item_id, ItemMove.ACCEPT, "ann", candidate, **values)


async def test_an_accepted_candidate_is_the_result(store):
    job, (item_id,) = await in_review(store)
    await store.items.decide(accept(item_id, owner="ann", reason="the same tail"))
    detail = await store.reads.item(item_id)
    assert detail.row.status is ItemStatus.DONE
    assert detail.result == '{"iata":"UA","näme":"Ünited"}'
    assert detail.row.last_error is None
    counts = await store.reads.counts(job.id)
    assert (counts.review, counts.done) == (0, 1)
    assert await store.reads.result_columns(job.id) == ["iata", "näme"]
    event = (await store.reads.events(EventQuery(job.id)))[-1]
    assert (event.kind, event.item_id) == ("decided", item_id)
    assert event.message == "accepted candidate c1, decided by ann: the same tail"


@pytest.mark.parametrize(
    ("move", "status"),
    [(ItemMove.REJECT, ItemStatus.NOT_FOUND), (ItemMove.PASS_OVER, ItemStatus.SKIPPED)],
)
async def test_what_is_not_accepted_has_no_result(store, move, status):
    job, (item_id,) = await in_review(store)
    await store.items.decide(ReviewDecision(item_id, move, "ann"))
    detail = await store.reads.item(item_id)
    assert (detail.row.status, detail.result) == (status, None)
    assert "ann" in detail.row.last_error
    assert getattr(await store.reads.counts(job.id), status.lower()) == 1


async def test_ids_that_are_numbers_are_chosen_by_their_digits(store):
    _, (item_id,) = await in_review(store)
    await store.items.decide(accept(item_id, "2"))
    assert (await store.reads.item(item_id)).result == '{"iata":"DL"}'


async def test_a_candidate_without_result_gives_an_empty_one(store):
    _, (item_id,) = await in_review(store)
    await store.items.decide(accept(item_id, "bare"))
    assert (await store.reads.item(item_id)).result == "{}"


@pytest.mark.parametrize("candidate", ["c9", "twice", "odd", "None", None])
async def test_what_cannot_be_chosen_changes_nothing(store, candidate):
    job, (item_id,) = await in_review(store)
    before = await factories.everything(store, job.id)
    with pytest.raises(UsageError):
        await store.items.decide(accept(item_id, candidate))
    with pytest.raises(UsageError):
        await store.items.decide(ReviewDecision(item_id, ItemMove.REJECT, "ann", "c1"))
    assert await factories.everything(store, job.id) == before


async def test_only_the_owner_finds_the_item(store):
    _, (item_id,) = await in_review(store)
    with pytest.raises(UnknownItem):
        await store.items.decide(accept(item_id, owner="bob"))
    with pytest.raises(UnknownItem):
        await store.items.decide(accept(4711))
    await store.items.decide(accept(item_id, owner=None))


@pytest.mark.parametrize("status", sorted(set(ItemStatus) - {ItemStatus.REVIEW}))
async def test_only_what_waits_for_a_decision_is_decided(store, status):
    job = await factories.job_of(store, status)
    (row,) = await store.reads.export_rows(job.id, 0, 10)
    with pytest.raises(IllegalMove):
        await store.items.decide(accept(row.id))


@pytest.mark.parametrize("move", [ItemMove.REQUEUE, ItemMove.FINISH, ItemMove.CLAIM])
async def test_other_moves_are_not_a_persons(store, move):
    _, (item_id,) = await in_review(store)
    with pytest.raises(IllegalMove):
        await store.items.decide(ReviewDecision(item_id, move, "ann"))


async def test_of_many_who_decide_at_once_one_wins(store, other):
    job, ids = await in_review(store, 3)
    for item_id in ids:
        tries = [
            each.items.decide(
                accept(item_id)
                if number % 2
                else ReviewDecision(item_id, ItemMove.REJECT, f"p{number}")
            )
            for number, each in enumerate((store, other) * 4)
        ]
        outcomes = await asyncio.gather(*tries, return_exceptions=True)
        assert sum(outcome is None for outcome in outcomes) == 1
        assert sum(isinstance(outcome, IllegalMove) for outcome in outcomes) == 7
    events = await store.reads.events(EventQuery(job.id))
    assert sum(event.kind == "decided" for event in events) == 3
    assert (await store.reads.counts(job.id)).review == 0


async def test_an_item_that_is_asked_about_again_is_decided_again(store, place):
    job, (item_id,) = await in_review(store)
    await store.items.decide(ReviewDecision(item_id, ItemMove.REJECT, "ann"))
    await store.items.requeue(RequeueRequest(job.id))
    assert await ask(store, job.id) == [item_id]
    await store.items.decide(accept(item_id))
    rows = place.execute("SELECT epoch, move, decided_by FROM decisions ORDER BY epoch")
    assert rows == [(1, "reject", "ann"), (2, "accept", "ann")]


async def test_decisions_go_with_their_job(store, place):
    job, (item_id,) = await in_review(store)
    await store.items.decide(accept(item_id))
    await factories.remove(store, job.id)
    assert place.execute("SELECT item_id FROM decisions") == []


async def test_a_batch_of_the_same_key_is_not_disturbed(store):
    job = await store.jobs.create_job(NewJob("h", "q", open=True, owner="ann"))
    await store.items.enqueue_many(EnqueueRequest(job.id, [NewItem("k", "{}")]))
    (item_id,) = await ask(store, job.id)
    await store.items.decide(accept(item_id))
    report = await store.items.enqueue_many(EnqueueRequest(job.id, [NewItem("k", "{}")]))
    assert report.inserted == 0
