"""A checkpoint is closed once, when all of its items have ended well; only then may rows go."""

import asyncio

import pytest

from headgate.core.job import Counts
from headgate.core.mirror import Closing, Proof
from headgate.core.status import ItemMove, ItemStatus, JobMove, JobState
from headgate.ports.items import RequeueRequest, ReviewDecision, SettleRequest
from headgate.ports.mirrors import NewCheckpoint, RowQuery
from tests.kit import factories
from tests.kit.mirrors import (
    INCREMENTAL,
    PEOPLE,
    PETS,
    PassRun,
    follow_up,
    rows,
    run_of,
    whole_pass,
)


async def keys(run):
    """Keys of the items that can be claimed now; they are given back."""
    items = await run.claim()
    await run.store.jobs.retire(run.who, "only looked")
    run.who = await factories.worker(run.store)
    return [item.key for item in items]


async def test_the_last_page_brings_the_closing_item(store):
    run = await run_of(store, 2)
    first, second = await run.claim()
    assert (await run.settle(first)).spawned == 0
    assert (await run.settle(second)).spawned == 1
    (closing,) = await run.claim()
    assert (closing.key, closing.input) == ("people/closing/1", '{"close":"people"}')
    assert not await store.jobs.finish_job(run.job.id)


@pytest.mark.parametrize("status", [ItemStatus.NOT_FOUND, ItemStatus.SKIPPED])
async def test_a_page_that_is_not_there_has_ended_well(store, status):
    run = await run_of(store)
    (page,) = await run.claim()
    assert (await run.settle(page, status)).spawned == 1


async def test_a_follow_up_of_the_last_page_keeps_the_checkpoint_open(store):
    run = await run_of(store)
    (page,) = await run.claim()
    await run.settle(page, items=[follow_up("people/next")])
    assert await keys(run) == ["people/next"]


async def test_closing_completes_the_checkpoint_and_deletes_what_was_not_seen(store):
    await whole_pass(store, 1, 2, 3)
    run = await run_of(store)
    (page,) = await run.claim()
    await run.settle(page, rows=rows(2, 4), total=2)
    assert await run.live() == ["1", "2", "3", "4"]
    await run.close(watermark="2026-02-02", evidence={"gaps": 0})
    checkpoint, stream = await run.checkpoint(), await run.stream()
    assert (checkpoint.proof, checkpoint.evidence, checkpoint.total) == (
        Proof.COVERED,
        {"gaps": 0},
        2,
    )
    assert (stream.full_pass, stream.live, stream.watermark) == (run.job.id, 2, "2026-02-02")
    assert await run.live() == ["2", "4"]
    gone = {row.id: row.deleted_at for row in await run.stored(deleted=True)}
    assert gone == {
        "1": checkpoint.completed_at,
        "2": None,
        "3": checkpoint.completed_at,
        "4": None,
    }
    assert await store.jobs.finish_job(run.job.id)


async def test_a_row_is_deleted_since_the_first_pass_that_did_not_see_it(store):
    await whole_pass(store, 1, 2)
    second = await whole_pass(store, 1)
    third = await whole_pass(store, 1)
    (gone,) = [row for row in await third.stored(deleted=True) if row.deleted_at]
    assert (gone.id, gone.deleted_at) == ("2", (await second.checkpoint()).completed_at)


async def test_a_row_that_comes_back_is_restored(store):
    await whole_pass(store, 1, 2)
    second = await whole_pass(store, 1)
    await whole_pass(store, 1)
    run = await run_of(store)
    (page,) = await run.claim()
    given = rows(1, 2, then=follow_up("detail"))
    await run.settle(page, rows=given)
    assert await run.live() == ["1", "2"]
    deleted, change = await store.mirrors.changes((await run.stream()).id, 0, 10)
    assert (change.kind, change.row_id) == ("restored", "2")
    assert (deleted.kind, deleted.row_id, deleted.pass_id) == ("deleted", "2", second.job.id)
    assert deleted.at == (await second.checkpoint()).completed_at
    assert (await run.checkpoint()).changed == 1
    assert await keys(run) == ["detail"]


async def test_a_row_that_says_so_itself_is_deleted_at_once_and_stays_deleted(store):
    await whole_pass(store, 1, 2)
    run = await run_of(store)
    (page,) = await run.claim()
    await run.settle(page, rows=[*rows(1), *rows(2, deleted=True)])
    assert await run.live() == ["1"]
    (_, gone) = await run.stored(deleted=True)
    assert gone.deleted_at == gone.changed_at
    await run.close()
    assert (await run.stream()).live == 1


@pytest.mark.parametrize(
    ("proof", "more", "mode"),
    [
        (Proof.UNPROVEN, {}, "full"),
        (Proof.COUNTED, {"deletes": False}, "full"),
        (Proof.COVERED, {}, "incremental"),
    ],
)
async def test_a_pass_that_may_not_delete_deletes_nothing(store, proof, more, mode):
    await whole_pass(store, 1, 2)
    checkpoint = NewCheckpoint("people", "people", {}, mode=mode)
    run = await run_of(store, checkpoints=[checkpoint])
    (page,) = await run.claim()
    await run.settle(page, rows=rows(1))
    before = (await run.stream()).full_pass
    await run.close(proof=proof, watermark="w", **more)
    assert await run.live() == ["1", "2"]
    stream = await run.stream()
    assert (stream.full_pass, stream.live) == (before, 2)
    assert stream.watermark == (None if proof is Proof.UNPROVEN else "w")
    assert (await run.checkpoint()).completed_at is not None


async def test_a_failed_page_keeps_the_checkpoint_open_until_it_is_requeued(store):
    await whole_pass(store, 1, 2)
    run = await run_of(store, 2)
    good, bad = await run.claim()
    await run.settle(bad, ItemStatus.ERROR)
    await run.settle(good, rows=rows(1))
    assert await store.jobs.finish_job(run.job.id)
    assert (await run.checkpoint()).completed_at is None
    assert await run.live() == ["1", "2"]
    await store.items.requeue(RequeueRequest(run.job.id))
    (again,) = await run.claim()
    assert (await run.settle(again, rows=rows(3))).spawned == 1
    await run.close()
    assert await run.live() == ["1", "3"]


async def test_a_cancelled_page_keeps_the_checkpoint_open(store):
    run = await run_of(store, 2)
    (page,) = await run.claim(1)
    await run.settle(page)
    await store.jobs.move_job(run.job.id, JobMove.CANCEL)
    while await store.items.cancel_items(run.job.id):
        pass
    assert (await run.checkpoint()).completed_at is None
    await store.items.requeue(RequeueRequest(run.job.id, frozenset({ItemStatus.CANCELLED})))
    (again,) = await run.claim()
    await run.settle(again)
    await run.close()
    assert await store.jobs.finish_job(run.job.id)


async def test_a_review_keeps_the_checkpoint_open_until_it_is_decided(store):
    run = await run_of(store)
    (page,) = await run.claim()
    assert (await run.settle(page, ItemStatus.REVIEW, rows=rows(1))).spawned == 0
    assert await run.live() == ["1"]
    await store.items.decide(ReviewDecision(page.id, ItemMove.REJECT, "ann"))
    assert await keys(run) == ["people/closing/1"]


async def test_a_closing_that_comes_while_a_page_is_open_is_ignored(store):
    run = await run_of(store)
    (page,) = await run.claim()
    await run.settle(page)
    (closing,) = await run.claim()
    await store.items.requeue(RequeueRequest(run.job.id, frozenset({ItemStatus.DONE})))
    await run.settle(closing, closing=Closing("people", Proof.COVERED))
    assert (await run.checkpoint()).completed_at is None
    (page,) = await run.claim()
    await run.settle(page)
    assert await keys(run) == ["people/closing/2"]


async def test_a_closing_that_brings_repair_pages_is_followed_by_another(store):
    run = await run_of(store)
    (page,) = await run.claim()
    await run.settle(page)
    (closing,) = await run.claim()
    repair, early = [follow_up("people/repair")], Closing("people", Proof.COVERED)
    await run.settle(closing, items=repair, closing=early)
    assert (await run.checkpoint()).completed_at is None
    (page,) = await run.claim()
    await run.settle(page)
    (closing,) = await run.claim()
    assert closing.key == "people/closing/2"


async def test_a_failed_closing_item_is_not_replaced_but_requeued(store):
    run = await run_of(store, 2)
    first, second = await run.claim()
    await run.settle(first)
    await run.settle(second)
    (closing,) = await run.claim()
    await run.settle(closing, ItemStatus.ERROR)
    await store.items.requeue(RequeueRequest(run.job.id, ids=(first.id,), statuses=DONE))
    (first,) = await run.claim()
    assert (await run.settle(first)).spawned == 0
    await store.items.requeue(RequeueRequest(run.job.id))
    await run.close()


DONE = frozenset({ItemStatus.DONE})


async def test_a_closing_item_that_closes_nothing_is_not_repeated_forever(store):
    run = await run_of(store)
    (page,) = await run.claim()
    await run.settle(page)
    (closing,) = await run.claim()
    await run.settle(closing)
    assert await store.jobs.finish_job(run.job.id)


async def test_a_child_waits_for_its_parent_and_closes_even_without_items(store):
    run = await run_of(store, checkpoints=[PEOPLE, PETS])
    (page,) = await run.claim()
    await run.settle(page)
    await run.close("people")
    await run.close("pets")
    assert await store.jobs.finish_job(run.job.id)


async def test_children_that_are_done_first_do_not_close_before_the_parent(store):
    run = await run_of(store, 2, checkpoints=[PEOPLE, PETS])
    first, second = await run.claim()
    await run.settle(first, items=[follow_up("pets/1", "pets")])
    (pet,) = await run.claim()
    assert (await run.settle(pet, rows=rows("rex", stream="pets"))).spawned == 0
    await run.settle(second)
    await run.close("people")
    await run.close("pets")
    assert await run.live("pets") == ["rex"]


@pytest.mark.parametrize("proof", [Proof.COVERED, Proof.UNPROVEN])
async def test_children_are_deleted_only_if_their_parents_are_proven(store, proof):
    first = await run_of(store, checkpoints=[PEOPLE, PETS])
    (page,) = await first.claim()
    await first.settle(page, rows=rows("rex", stream="pets"))
    await first.close("people")
    await first.close("pets")
    await store.jobs.finish_job(first.job.id)
    run = await run_of(store, checkpoints=[PEOPLE, PETS])
    (page,) = await run.claim()
    await run.settle(page)
    await run.close("people", proof)
    await run.close("pets")
    assert await run.live("pets") == ([] if proof is Proof.COVERED else ["rex"])


async def test_a_checkpoint_that_never_had_an_item_is_closed_at_the_end(store):
    run = await run_of(store, 0)
    assert not await store.jobs.finish_job(run.job.id)
    await run.close()
    assert await store.jobs.finish_job(run.job.id)


async def test_pages_settled_without_an_attachment_are_noticed_at_the_end(store):
    run = await run_of(store)
    await factories.finish(store, run.who, await run.claim())
    assert not await store.jobs.finish_job(run.job.id)
    assert (await store.reads.job(run.job.id)).state is JobState.RUNNING
    await run.close()


async def test_complete_checkpoints_outlive_their_job_and_open_ones_do_not(store):
    await whole_pass(store, 1, 2)
    run = await run_of(store, checkpoints=[PEOPLE, PETS])
    (page,) = await run.claim()
    await run.settle(page, rows=rows(1))
    await run.close("people")
    completed, stream = (await run.checkpoint()).completed_at, await run.stream()
    await factories.remove(store, run.job.id)
    (left,) = await store.mirrors.checkpoints(run.job.id)
    assert (left.name, left.completed_at) == ("people", completed)
    assert run.job.id in await store.mirrors.passes(stream.mirror_id, None, 10)
    found = await store.mirrors.rows(RowQuery(stream.id, deleted=True))
    assert {row.id: row.deleted_at for row in found} == {"1": None, "2": completed}


async def test_an_older_pass_neither_overwrites_nor_deletes_what_a_newer_one_saw(store):
    old = await run_of(store, 2)
    first, second = await old.claim()
    await old.settle(first, rows=rows(1))
    await old.settle(second, ItemStatus.ERROR)
    await store.jobs.finish_job(old.job.id)
    new = await run_of(store)
    (page,) = await new.claim()
    await new.settle(page, rows=rows(1, 2, body={"v": 2}))
    await new.close(watermark="new")
    await store.items.requeue(RequeueRequest(old.job.id))
    (again,) = await old.claim()
    await old.settle(again, rows=[*rows(2, body={"v": 1}), *rows(3)])
    await old.close(watermark="old")
    assert await old.live() == ["1", "2"]
    stream = await new.stream()
    assert (stream.full_pass, stream.watermark) == (new.job.id, "new")
    (row,) = [row for row in await new.stored() if row.id == "2"]
    assert '"v":2' in row.body.replace(" ", "")


async def test_two_workers_that_settle_the_last_two_pages_at_once_bring_one_closing_item(
    store, other
):
    for n in range(8):
        run = await run_of(store, 2, mirror=f"m{n}")
        (first,) = await run.claim(1)
        second_run = PassRun(other, run.job, await factories.worker(other))
        (second,) = await second_run.claim(1)
        reports = await asyncio.gather(
            run.settle(first, rows=rows(1, 2)), second_run.settle(second, rows=rows(2, 3))
        )
        assert sorted(report.spawned for report in reports) == [0, 1]
        assert await run.live() in (["1", "2", "3"], ["2", "3", "1"])
        await run.close()


async def test_what_fails_in_the_middle_of_a_commit_leaves_nothing(store, place):
    """The last statement of a commit fails: rows, items, counters and the page are as before."""
    run = await run_of(store)
    (page,) = await run.claim()
    before = await factories.everything(store, run.job.id)
    place.execute("ALTER TABLE checkpoints RENAME COLUMN closings TO closings_away")
    with pytest.raises(Exception, match="closings"):
        await run.settle(page, rows=rows(1), items=[follow_up("x", "")], total=7)
    place.execute("ALTER TABLE checkpoints RENAME COLUMN closings_away TO closings")
    assert await factories.everything(store, run.job.id) == before
    assert await store.reads.counts(run.job.id) == Counts(processing=1)
    assert (await run.live(), (await run.checkpoint()).total) == ([], None)
    await run.settle(page, rows=rows(1))
    assert await run.live() == ["1"]


async def test_one_batch_may_hold_pages_of_several_passes(store):
    one, two = await run_of(store, mirror="one"), await run_of(store, mirror="two")
    (first,) = await one.claim()
    (second,) = await factories.claim(store, two.job.id, one.who)
    settlements = [factories.settlement(item, ItemStatus.DONE) for item in (first, second)]
    attachments = [
        one.attachment(first, rows=rows(1)),
        one.attachment(second, rows=rows(2)),
    ]
    request = SettleRequest(one.who, settlements, attachments=attachments)
    assert (await store.items.settle_many(request)).spawned == 2
    assert (await one.live(), await two.live()) == (["1"], ["2"])


async def test_an_incremental_checkpoint_says_where_it_begins(store):
    checkpoint = NewCheckpoint("people", "people", {}, mode=INCREMENTAL, since="2026")
    run = await run_of(store, checkpoints=[checkpoint])
    assert ((await run.checkpoint()).mode, (await run.checkpoint()).since) == (INCREMENTAL, "2026")
