import itertools

import pytest

from headgate.core.errors import IllegalMove, UnknownJob
from headgate.core.job import NewJob
from headgate.core.status import (
    JOB_TRANSITIONS,
    TRANSITIONS,
    UNFINISHED,
    ItemMove,
    ItemStatus,
    JobMove,
    JobState,
)
from headgate.ports.items import RequeueRequest
from headgate.ports.jobs import SessionReport, WaitingSource
from headgate.ports.reads import EventQuery
from tests.kit import factories

MATRIX = list(itertools.product(JobState, JobMove))


@pytest.mark.parametrize(("state", "move"), MATRIX)
async def test_a_job_moves_as_the_table_says_and_in_no_other_way(store, state, move):
    job = await factories.job_in(store, state)
    events = len(await store.reads.events(EventQuery(job.id)))
    sources, target = JOB_TRANSITIONS[move]
    if state not in sources:
        with pytest.raises(IllegalMove, match=state):
            await store.jobs.move_job(job.id, move)
        assert await store.reads.job(job.id) == job
        assert len(await store.reads.events(EventQuery(job.id))) == events
        return
    moved = await store.jobs.move_job(job.id, move, "because")
    assert moved == await store.reads.job(job.id)
    assert moved.state is target
    assert (moved.finished_at is None) == (target in UNFINISHED)
    assert moved.updated_at >= job.updated_at
    event = (await store.reads.events(EventQuery(job.id)))[-1]
    assert (event.kind, target in event.message) == ("job_state", True)
    assert len(await store.reads.events(EventQuery(job.id))) == events + 1


CLAIMED = {
    ItemMove.FINISH: ItemStatus.DONE,
    ItemMove.MISS: ItemStatus.NOT_FOUND,
    ItemMove.SKIP: ItemStatus.SKIPPED,
    ItemMove.ASK: ItemStatus.REVIEW,
    ItemMove.FAIL: ItemStatus.ERROR,
    ItemMove.RETRY: ItemStatus.PENDING,
}
"""Moves that settle a lease, and the status they settle it in."""
LATER = {ItemMove.ACCEPT, ItemMove.REJECT, ItemMove.PASS_OVER}
"""A person's decisions on items in REVIEW come with the review desk."""


@pytest.mark.parametrize("move", [move for move in ItemMove if move not in LATER])
@pytest.mark.parametrize("status", list(ItemStatus))
async def test_an_item_moves_as_the_table_says_and_in_no_other_way(store, status, move):
    job = await factories.job_of(store, status)
    (row,) = await store.reads.export_rows(job.id, 0, 10)
    await attempt(store, job, await store.reads.item(row.id), move)
    sources, target = TRANSITIONS[move]
    after = (await store.reads.item(row.id)).row.status
    assert after is (target if status in sources else status)


async def attempt(store, job, detail, move):
    """Try a move on an item; whether it is legal is the store's to know."""
    status = detail.row.status
    who = detail.row.locked_by or await factories.worker(store)
    if move is ItemMove.CLAIM:
        await factories.claim(store, job.id, who)
    elif move is ItemMove.CANCEL:
        if job.state is not JobState.CANCELLED:
            await store.jobs.move_job(job.id, JobMove.CANCEL)
        await store.items.cancel_items(job.id)
    elif move is ItemMove.REQUEUE:
        request = RequeueRequest(job.id, statuses=frozenset({status}))
        try:
            await store.items.requeue(request)
        except IllegalMove:
            assert status not in TRANSITIONS[move].sources
    elif move is ItemMove.HAND_BACK:
        await store.jobs.retire(who, "gone")
    else:
        leased = claimed(detail)
        refused = await factories.finish(store, who, [leased], CLAIMED[move])
        assert bool(refused) == (status not in TRANSITIONS[move].sources)


def claimed(detail):
    row = detail.row
    return factories.ClaimedItem(
        row.id, row.job_id, row.key, detail.input, None, detail.epoch, row.attempts, 0, 0, 0,
        suspect=False, throttled_us=0,
    )  # fmt: skip


async def test_every_verb_names_a_job_that_is_not_there(store):
    jobs = store.jobs
    for verb in (
        jobs.move_job(4711, JobMove.PAUSE),
        jobs.reopen_ingest(4711, ""),
        jobs.complete_ingest(4711, ()),
        jobs.close_queue(4711),
        jobs.set_priority(4711, 1),
        store.reads.job(4711),
        store.items.requeue(RequeueRequest(4711)),
    ):
        with pytest.raises(UnknownJob, match="4711"):
            await verb
    assert await jobs.finish_job(4711) is False
    assert await jobs.delete_job(4711) == 0
    assert await store.items.cancel_items(4711) == 0


async def test_a_new_job_is_what_was_asked_for(store):
    new = NewJob(
        "price.lookup",
        "file.csv",
        name="prices",
        owner="ada",
        key_columns=("sku", "shop"),
        config={"depth": 3, "names": ["ä", "b"]},
        priority=7,
        eager=True,
        fingerprint="abc",
        columns=("sku", "shop", "n"),
        reading={"format": "csv", "header": True},
        file="Preise März.csv",
        client="192.0.2.7",
        options={"sheet": "Blatt 1", "version": "2"},
    )
    job = await store.jobs.create_job(new)
    assert job == await store.reads.job(job.id)
    for field in set(NewJob.__struct_fields__) - {"once", "newest", "caps"}:
        assert getattr(job, field) == getattr(new, field)
    assert (job.state, job.ingest_complete) == (JobState.INGESTING, False)
    assert (job.ingest_run, job.ingest_position) == (1, "")


async def test_an_open_job_can_be_worked_on_at_once(store):
    job = await store.jobs.create_job(NewJob("h", "queue:x", open=True))
    assert job.state is JobState.QUEUED
    assert not await store.jobs.finish_job(job.id)
    closed = await store.jobs.close_queue(job.id)
    assert not closed.open
    assert await store.jobs.finish_job(job.id)
    assert (await store.reads.job(job.id)).state is JobState.DONE


@pytest.mark.parametrize("status", list(ItemStatus))
async def test_a_job_is_done_if_and_only_if_no_item_is_open(store, status):
    job = await factories.job_of(store, status)
    if job.state is JobState.CANCELLED:
        assert not await store.jobs.finish_job(job.id)
        return
    is_open = status in {ItemStatus.PENDING, ItemStatus.PROCESSING}
    assert await store.jobs.finish_job(job.id) is not is_open
    after = await store.reads.job(job.id)
    assert (after.state is JobState.DONE) is not is_open
    assert not await store.jobs.finish_job(job.id)


async def test_a_job_with_open_items_cannot_be_moved_to_done(store):
    job = await factories.job(store, 1)
    with pytest.raises(IllegalMove):
        await store.jobs.move_job(job.id, JobMove.FINISH)
    assert (await store.reads.job(job.id)).state is JobState.QUEUED


async def test_a_job_whose_source_is_not_fully_read_is_not_done(store):
    job = await store.jobs.create_job(NewJob("h", "file.csv"))
    assert not await store.jobs.finish_job(job.id)
    await store.jobs.move_job(job.id, JobMove.PAUSE)
    paused = await store.jobs.complete_ingest(job.id, ("a",))
    assert (paused.state, paused.ingest_complete) == (JobState.PAUSED, True)
    assert not await store.jobs.finish_job(job.id)
    await store.jobs.move_job(job.id, JobMove.RESUME)
    assert await store.jobs.finish_job(job.id)


async def test_completing_ingest_keeps_the_columns_and_happens_once(store):
    job = await store.jobs.create_job(NewJob("h", "file.csv"))
    complete = await store.jobs.complete_ingest(job.id, ("a", "b"))
    assert (complete.state, complete.columns) == (JobState.QUEUED, ("a", "b"))
    assert await store.jobs.complete_ingest(job.id, ("c",)) == complete


async def test_a_new_reading_starts_from_the_top(store):
    job = await factories.job(store, 2)
    await store.jobs.move_job(job.id, JobMove.START)
    again = await store.jobs.reopen_ingest(job.id, "new content")
    assert (again.state, again.fingerprint) == (JobState.INGESTING, "new content")
    assert (again.ingest_run, again.ingest_position, again.ingest_complete) == (2, "", False)
    await store.jobs.move_job(job.id, JobMove.CANCEL)
    with pytest.raises(IllegalMove, match="CANCELLED"):
        await store.jobs.reopen_ingest(job.id, "newer content")


async def test_a_failed_job_says_why(store):
    job = await factories.job(store)
    failed = await store.jobs.move_job(job.id, JobMove.FAIL, "no such handler")
    assert failed.last_error == "no such handler"
    assert "no such handler" in (await store.reads.events(EventQuery(job.id)))[-1].message


async def test_priority_changes_and_is_recorded(store):
    job = await factories.job(store)
    assert (await store.jobs.set_priority(job.id, -3)).priority == -3
    assert (await store.reads.job(job.id)).priority == -3
    assert (await store.reads.events(EventQuery(job.id)))[-1].kind == "job_priority"


async def test_demand_names_the_jobs_that_can_be_claimed_from_now(store):
    plain = await factories.job(store, 1)
    urgent = await factories.job(store, 1, NewJob("other", "b", owner="bob", priority=5))
    paused = await factories.job(store, 1)
    await store.jobs.move_job(paused.id, JobMove.PAUSE)
    demand = await store.jobs.demand(None, None)
    found = {each.job_id: each for each in demand.contenders}
    assert set(found) == {plain.id, urgent.id}
    assert (found[urgent.id].owner, found[urgent.id].priority) == ("bob", 5)
    assert (list(demand.suspects), demand.open_items) == ([], True)
    only = await store.jobs.demand([plain.id], None)
    assert [each.job_id for each in only.contenders] == [plain.id]
    handled = await store.jobs.demand(None, ["other"])
    assert [each.job_id for each in handled.contenders] == [urgent.id]
    nothing = await store.jobs.demand([], None)
    assert (list(nothing.contenders), nothing.open_items) == ([], False)


async def test_demand_knows_running_delayed_and_finishable_jobs(store, place):
    job, who = await factories.job(store, 1), await factories.worker(store)
    (item,) = await factories.claim(store, job.id, who)
    running = await store.jobs.demand([job.id], None)
    assert (list(running.contenders), running.open_items) == ([], True)
    assert (running.next_due_in_s, list(running.finishable)) == (None, [])
    later = factories.RetryDecision(ItemStatus.PENDING, "retry", failed=True, due_in_us=50_000_000)
    await store.items.settle_many(factories.SettleRequest(who, [factories.settle(item, later)]))
    delayed = await store.jobs.demand([job.id], None)
    assert (list(delayed.contenders), delayed.open_items) == ([], True)
    assert 40 < delayed.next_due_in_s <= 50
    place.pass_time(60)
    due = await store.jobs.demand([job.id], None)
    assert [each.job_id for each in due.contenders] == [job.id]
    assert due.next_due_in_s == 0
    await factories.finish(store, who, await factories.claim(store, job.id, who))
    over = await store.jobs.demand([job.id], None)
    assert (over.open_items, list(over.finishable)) == (False, [job.id])


async def test_demand_keeps_suspects_apart(store):
    job, who = await factories.job(store, 2), await factories.worker(store)
    leased = await factories.claim(store, job.id, who)
    crashed = factories.RetryDecision(ItemStatus.PENDING, "crashed", crashed=True, alone=True)
    settlements = [factories.settle(item, crashed) for item in leased]
    await store.items.settle_many(factories.SettleRequest(who, settlements))
    demand = await store.jobs.demand([job.id], None)
    assert list(demand.contenders) == []
    assert [each.job_id for each in demand.suspects] == [job.id]


async def test_a_session_is_written_and_updated(store, place):
    job = await factories.job(store)
    await store.jobs.record_session(SessionReport("s1", job.id, "run", 2))
    await store.jobs.record_session(SessionReport("s1", job.id, "run", 2, 500, 10.0, ended=True))
    ((settled, rate, ended),) = place.execute(
        "SELECT settled, items_per_s, ended_at IS NOT NULL FROM sessions"
    )
    assert (settled, rate, bool(ended)) == (500, 50.0, True)


async def test_retention_deletes_what_is_old_and_nothing_else(store, place):
    old, alive = await factories.worker(store), await factories.worker(store)
    await store.jobs.retire(old, "gone")
    await store.jobs.record_event("note", "old news")
    place.pass_time(100)
    await store.jobs.record_event("note", "news")
    assert await store.jobs.retain(50_000_000) >= 1
    assert [event.message for event in await store.reads.events(EventQuery())] == ["news"]
    assert [row.id for row in await store.reads.workers(alive_only=False)] == [alive]
    assert await store.jobs.retain(50_000_000) == 0


async def test_a_pause_for_a_time_is_over_by_itself(store):
    job = await factories.job(store, 1)
    paused = await store.jobs.move_job(job.id, JobMove.PAUSE, "budget is spent", 3_600.0)
    assert paused.pause_reason == "budget is spent"
    assert paused.resume_at - paused.updated_at == 3_600_000_000
    assert await store.jobs.rested() == []
    resumed = await store.jobs.move_job(job.id, JobMove.RESUME)
    assert (resumed.pause_reason, resumed.resume_at) == (None, None)
    await store.jobs.move_job(job.id, JobMove.PAUSE, "for a moment", 0.0)
    assert await store.jobs.rested() == [job.id]


async def test_a_pause_without_end_stays(store):
    job = await factories.job(store, 1)
    paused = await store.jobs.move_job(job.id, JobMove.PAUSE, "by hand")
    assert (paused.pause_reason, paused.resume_at) == ("by hand", None)
    assert await store.jobs.rested() == []


async def test_the_oldest_sources_of_each_owner_wait_to_be_read(store):
    """SH4: an owner with many sources does not hide those of another."""

    async def made(owner: str, reading: dict | None) -> int:
        new = NewJob("price.lookup", "upload:x", owner=owner, reading=reading)
        return (await store.jobs.create_job(new)).id

    ann = [await made("ann", {}) for _ in range(4)]
    bob = await made("bob", {})
    await made("cem", None)  # read by a command, not by the server
    found = await store.jobs.sources_to_read(2)
    expected = [(ann[0], "ann"), (ann[1], "ann"), (bob, "bob")]
    assert found == [WaitingSource(*each, "upload:x") for each in expected]
    await store.jobs.move_job(ann[0], JobMove.PAUSE)
    await store.jobs.complete_ingest(ann[1], ("n",))
    assert [each.id for each in await store.jobs.sources_to_read(2)] == [*ann[2:], bob]
