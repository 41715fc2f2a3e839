import msgspec
import pytest

from headgate.core.errors import IllegalMove, UnknownJob
from headgate.core.fault import FaultClass
from headgate.core.item import NewItem
from headgate.core.job import Counts, NewJob
from headgate.core.paging import SortOrder
from headgate.core.retry import RetryDecision
from headgate.core.settlement import settle
from headgate.core.status import FINISHED, OPEN, ItemStatus, JobMove, JobState
from headgate.ports.items import EnqueueRequest, RequeueRequest, SettleRequest
from headgate.ports.reads import EventQuery, ItemQuery
from headgate.stores.listing import WINDOW
from tests.kit import factories


@pytest.mark.parametrize("status", sorted(FINISHED))
async def test_a_requeued_item_starts_afresh_with_its_history(store, status):
    job = await factories.job_of(store, status)
    (row,) = await store.reads.export_rows(job.id, 0, 10)
    before = await store.reads.item(row.id)
    history = await store.reads.attempts(row.id)
    swept = await store.items.requeue(RequeueRequest(job.id, frozenset({status})))
    assert (swept.moved, swept.next_after_id) == (1, None)
    after = await store.reads.item(row.id)
    assert after.row.status is ItemStatus.PENDING
    assert (after.row.error_class, after.row.last_error, after.result) == (None, None, None)
    assert (after.failures, after.row.crashes, after.strategy, after.suspect) == (0, 0, 0, False)
    assert (after.row.due_at, after.row.attempts) == (0, before.row.attempts)
    assert after.epoch == before.epoch
    assert after.row.updated_at >= before.row.updated_at
    assert await store.reads.attempts(row.id) == history
    assert await store.reads.counts(job.id) == Counts(pending=1)


async def test_attempts_are_forgotten_only_when_asked(store):
    job = await factories.job_of(store, ItemStatus.ERROR)
    (row,) = await store.reads.export_rows(job.id, 0, 10)
    await store.items.requeue(RequeueRequest(job.id, reset_attempts=True))
    assert (await store.reads.item(row.id)).row.attempts == 0
    assert len(await store.reads.attempts(row.id)) == 1
    who = await factories.worker(store)
    await factories.finish(store, who, await factories.claim(store, job.id, who))
    assert [each.number for each in await store.reads.attempts(row.id)] == [1, 1]


@pytest.mark.parametrize("status", sorted(OPEN))
async def test_open_items_cannot_be_requeued(store, status):
    job = await factories.job_of(store, status)
    before = await factories.everything(store, job.id)
    with pytest.raises(IllegalMove, match=status):
        await store.items.requeue(RequeueRequest(job.id, frozenset({status})))
    assert await factories.everything(store, job.id) == before


@pytest.mark.parametrize("move", [JobMove.FINISH, JobMove.FAIL, JobMove.CANCEL])
async def test_a_finished_job_is_queued_again_and_says_so(store, move):
    job = await factories.job_of(store, ItemStatus.ERROR)
    finished = await store.jobs.move_job(job.id, move)
    await store.items.requeue(RequeueRequest(job.id))
    after = await store.reads.job(job.id)
    assert (after.state, after.finished_at) == (JobState.QUEUED, None)
    message = (await store.reads.events(EventQuery(job.id)))[-1].message
    assert f"{finished.state} → QUEUED" in message


async def test_a_job_that_is_not_finished_keeps_its_state(store):
    job = await factories.job_of(store, ItemStatus.ERROR, 2)
    assert job.state is JobState.RUNNING
    for state in (JobState.RUNNING, JobState.PAUSED):
        assert (await store.items.requeue(RequeueRequest(job.id, limit=1))).moved == 1
        assert (await store.reads.job(job.id)).state is state
        if state is JobState.RUNNING:
            await store.jobs.move_job(job.id, JobMove.PAUSE)


async def test_a_requeue_that_finds_nothing_changes_nothing(store):
    job = await factories.job_of(store, ItemStatus.DONE)
    await store.jobs.finish_job(job.id)
    before = await store.reads.job(job.id)
    swept = await store.items.requeue(RequeueRequest(job.id))
    assert (swept.moved, swept.next_after_id) == (0, None)
    assert await store.reads.job(job.id) == before


async def test_all_but_some_are_requeued(store):
    job = await factories.job_of(store, ItemStatus.ERROR, 3)
    first, *others = [row.id for row in await store.reads.export_rows(job.id, 0, 10)]
    request = RequeueRequest(job.id, but_ids=(first, 999_999))
    assert (await store.items.would_requeue(request)).moved == 2
    assert (await store.items.requeue(request)).moved == 2
    left = {row.id: row.status for row in await store.reads.export_rows(job.id, 0, 10)}
    assert left == {first: ItemStatus.ERROR, **dict.fromkeys(others, ItemStatus.PENDING)}


async def test_only_items_that_changed_in_a_span_of_time_are_requeued(store):
    job = await factories.job_of(store, ItemStatus.ERROR, 2)
    query = ItemQuery(job.id, order=SortOrder.UPDATED, tail=True)
    changed = [row.updated_at for row in (await store.reads.items(query)).items]
    first, last = min(changed), max(changed)
    before = RequeueRequest(job.id, changed_to=first)
    after = RequeueRequest(job.id, changed_from=last + 1)
    assert [(await store.items.would_requeue(each)).moved for each in (before, after)] == [0, 0]
    within = RequeueRequest(job.id, changed_from=first, changed_to=last + 1)
    assert (await store.items.requeue(within)).moved == 2


async def test_a_requeue_goes_in_bounded_steps(store):
    job = await factories.job_of(store, ItemStatus.ERROR, 5)
    after_id, moved = 0, []
    while after_id is not None:
        swept = await store.items.requeue(RequeueRequest(job.id, after_id=after_id, limit=2))
        moved.append(swept.moved)
        after_id = swept.next_after_id
    assert sum(moved) == 5
    assert max(moved) == 2
    assert await store.reads.counts(job.id) == Counts(pending=5)


async def test_filters_are_joined_by_and(store):
    job, who = await factories.job(store, 4), await factories.worker(store)
    leased = await factories.claim(store, job.id, who)
    for item, kind in zip(leased, ["permanent", "timeout", "timeout", None], strict=True):
        verdict = factories.VERDICTS[ItemStatus.NOT_FOUND]
        if kind is not None:
            verdict = RetryDecision(ItemStatus.ERROR, "error", error_class=FaultClass(kind))
        await store.items.settle_many(SettleRequest(who, [settle(item, verdict)]))
    ids = tuple(item.id for item in leased)

    async def moved(**filters):
        return (await store.items.requeue(RequeueRequest(job.id, **filters))).moved

    assert await moved(statuses=frozenset({ItemStatus.DONE})) == 0
    assert await moved(error_class="timeout", ids=ids[:2]) == 1
    assert (await store.reads.item(ids[1])).row.status is ItemStatus.PENDING
    assert await moved(statuses=frozenset({ItemStatus.NOT_FOUND}), ids=ids[:3]) == 0
    assert await moved(ids=(ids[0], 4711)) == 1
    assert await moved(ids=()) == 0
    assert await moved() == 2
    assert await store.reads.counts(job.id) == Counts(pending=4)


async def failed(store, reasons, summaries=()):
    """A job whose items failed for these reasons, the first at its second attempt."""
    items = [
        NewItem(f"key-{n}", "{}", n, summary=summary)
        for n, summary in enumerate(summaries or [""] * len(reasons))
    ]
    job = await store.jobs.create_job(NewJob("h", "queue:q", open=True))
    await store.items.enqueue_many(EnqueueRequest(job.id, items))
    who = await factories.worker(store)
    first = await factories.claim(store, job.id, who, 1)
    await factories.finish(store, who, first, ItemStatus.PENDING)
    for item in await factories.claim(store, job.id, who):
        reason = reasons[int(item.key.removeprefix("key-"))]
        verdict = RetryDecision(ItemStatus.ERROR, "error", error_class="permanent", reason=reason)
        await store.items.settle_many(SettleRequest(who, [settle(item, verdict)]))
    return job


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"signature": "permanent: <n> left"}, {0, 1}),
        ({"text": "PEAR"}, {1, 2}),
        ({"text": "key-0"}, {0}),
        ({"below_attempts": 2}, {1, 2}),
        ({"below_attempts": 1}, set()),
        ({"but_class": "permanent"}, set()),
        ({"but_class": "timeout", "text": "pear", "signature": "permanent: <n> left"}, {1}),
        ({}, {0, 1, 2}),
    ],
)
async def test_what_would_be_requeued_is_what_is(store, filters, expected):
    job = await failed(store, ["5 left", "7 left", "gone"], ["apple", "Pear", "a pear tree"])
    request = RequeueRequest(job.id, **filters)
    before = await factories.everything(store, job.id)
    assert (await store.items.would_requeue(request)).moved == len(expected)
    assert await factories.everything(store, job.id) == before
    assert (await store.items.requeue(request)).moved == len(expected)
    rows = await store.reads.export_rows(job.id, 0, 10)
    back = {row.key for row in rows if row.status is ItemStatus.PENDING}
    assert back == {f"key-{number}" for number in expected}


async def test_a_step_looks_at_a_bounded_number_of_rows(store):
    job = await store.jobs.create_job(NewJob("h", "queue:q", open=True))
    for start in range(0, WINDOW + 1_000, 7_000):
        await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(7_000, start + 1)))
    bad = NewItem("bad", "{}", problem="no columns")
    await store.items.enqueue_many(EnqueueRequest(job.id, [bad]))
    request = RequeueRequest(job.id, error_class="bad_row")
    for step in (store.items.would_requeue, store.items.requeue):
        first = await step(request)
        assert first.moved == 0
        assert first.next_after_id is not None
        second = await step(msgspec.structs.replace(request, after_id=first.next_after_id))
        assert (second.moved, second.next_after_id) == (1, None)


async def test_what_is_unknown_is_reported(store):
    for step in (store.items.would_requeue, store.items.requeue):
        with pytest.raises(UnknownJob):
            await step(RequeueRequest(4711))


async def test_only_items_of_the_named_job_are_requeued(store):
    mine = await factories.job_of(store, ItemStatus.ERROR)
    theirs = await factories.job_of(store, ItemStatus.ERROR)
    (row,) = await store.reads.export_rows(theirs.id, 0, 10)
    assert (await store.items.requeue(RequeueRequest(mine.id, ids=(row.id,)))).moved == 0
    assert await store.reads.counts(theirs.id) == Counts(error=1)
