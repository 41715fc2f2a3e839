"""A row that a listing only mentions is marked as seen, and its body is asked for if it differs."""

import msgspec
import pytest

from headgate.core.job import Counts
from headgate.core.mirror import MirrorRow
from headgate.ports.mirrors import ChangeKind
from tests.kit.mirrors import PassRun, follow_up, rows, run_of, whole_pass


def mention(row_id, listed="listed", **more):
    then = follow_up(f"detail={row_id}", row=row_id)
    return MirrorRow("people", row_id, None, listed, then=then, **more)


def detail(row_id, listed="listed", **more):
    """What the item brings that a mention asks for."""
    return MirrorRow("people", row_id, {"id": row_id, "whole": listed}, listed, **more)


async def listed_pass(store, *mentions):
    """A pass whose only page mentions these rows."""
    run = await run_of(store)
    (page,) = await run.claim(1)
    await run.settle(page, rows=mentions)
    return run


async def asked_for(run: PassRun):
    """The rows whose details are due, with their items."""
    due = await run.claim()
    return {item.key.partition("=")[2]: item for item in due if item.key.startswith("detail=")}


async def end(run: PassRun):
    await run.close()
    assert await run.store.jobs.finish_job(run.job.id)


async def first_pass(store, *ids):
    """A closed pass that mentioned and then fetched these rows."""
    run = await listed_pass(store, *(mention(each) for each in ids))
    for row_id, item in (await asked_for(run)).items():
        await run.settle(item, rows=[detail(row_id)])
    await end(run)
    return run


def counted(checkpoint):
    return checkpoint.added, checkpoint.changed, checkpoint.unchanged, checkpoint.repeated


async def test_a_new_row_is_asked_for_and_stored_only_when_its_body_comes(store):
    run = await listed_pass(store, mention("a"))
    assert await run.stored(deleted=True) == []
    assert counted(await run.checkpoint()) == (0, 0, 0, 0)
    asked = await asked_for(run)
    assert list(asked) == ["a"]
    await run.settle(asked["a"], rows=[detail("a")])
    (row,) = await run.stored()
    assert (row.hash, msgspec.json.decode(row.body)) == ("listed", {"id": "a", "whole": "listed"})
    assert counted(await run.checkpoint()) == (1, 0, 0, 0)


async def test_a_row_of_the_same_hash_is_marked_as_seen_and_not_asked_for(store):
    first = await first_pass(store, "a")
    before = await first.stored()
    run = await listed_pass(store, mention("a"))
    assert await asked_for(run) == {}
    (row,) = await run.stored()
    assert row.seen_pass == run.job.id
    assert msgspec.structs.replace(row, seen_pass=first.job.id) == before[0]
    assert counted(await run.checkpoint()) == (0, 0, 1, 0)
    assert await store.mirrors.changes((await run.stream()).id, 0, 10) == []


async def test_a_row_of_another_hash_is_asked_for_and_changes_when_its_body_comes(store):
    await first_pass(store, "a", "b")
    run = await listed_pass(store, mention("a", "new"), mention("b"))
    asked = await asked_for(run)
    assert list(asked) == ["a"]
    assert {row.id: row.hash for row in await run.stored()} == {"a": "listed", "b": "listed"}
    await run.settle(asked["a"], rows=[detail("a", "new")])
    assert {row.id: row.hash for row in await run.stored()} == {"a": "new", "b": "listed"}
    (change,) = await store.mirrors.changes((await run.stream()).id, 0, 10)
    assert (change.kind, change.row_id) == (ChangeKind.CHANGED, "a")
    assert counted(await run.checkpoint()) == (0, 1, 1, 0)


async def test_a_row_whose_body_never_came_is_asked_for_by_the_next_pass(store):
    run = await listed_pass(store, mention("a"))
    await run.settle((await asked_for(run))["a"])
    await end(run)
    again = await listed_pass(store, mention("a"))
    assert list(await asked_for(again)) == ["a"]


async def test_a_row_that_no_page_of_a_proven_full_pass_mentions_is_deleted(store):
    await first_pass(store, "a", "b", "c")
    run = await listed_pass(store, mention("a"), mention("b", "new"))
    await run.settle((await asked_for(run))["b"])
    assert await run.live() == ["a", "b", "c"]
    await end(run)
    assert await run.live() == ["a", "b"]
    assert [row.id for row in await run.stored(deleted=True) if row.deleted_at] == ["c"]


async def test_a_pass_is_not_closed_before_the_bodies_that_were_asked_for(store):
    run = await listed_pass(store, mention("a"))
    assert await store.reads.counts(run.job.id) == Counts(pending=1, done=1)
    (item,) = (await asked_for(run)).values()
    assert (await run.settle(item, rows=[detail("a")])).spawned == 1
    await end(run)


async def test_a_row_that_is_mentioned_again_after_its_deletion_is_restored(store):
    await first_pass(store, "a", "b")
    await end(await listed_pass(store, mention("a")))
    run = await listed_pass(store, mention("a"), mention("b"))
    assert await run.live() == ["a", "b"]
    changes = await store.mirrors.changes((await run.stream()).id, 0, 10)
    assert [(each.kind, each.row_id) for each in changes] == [
        (ChangeKind.DELETED, "b"),
        (ChangeKind.RESTORED, "b"),
    ]


@pytest.mark.parametrize("listed", ["listed", "new"])
async def test_a_mention_that_says_deleted_deletes_the_row_and_keeps_its_body(store, listed):
    await first_pass(store, "a")
    run = await listed_pass(store, mention("a", listed, deleted=True))
    assert await run.live() == []
    (row,) = await run.stored(deleted=True)
    assert (row.hash, row.deleted_at) == ("listed", row.changed_at)
    (change,) = await store.mirrors.changes((await run.stream()).id, 0, 10)
    assert change.kind is ChangeKind.DELETED


async def test_pages_of_one_batch_may_mention_a_row_and_bring_it(store):
    run = await run_of(store, 3)
    first, second, third = await run.claim()
    batch = {
        first: {"rows": [mention("a"), mention("b")]},
        second: {"rows": [detail("a")]},
        third: {"rows": [mention("a"), *rows("c")]},
    }
    await run.settle_all(batch)
    assert await run.live() == ["a", "c"]
    assert counted(await run.checkpoint()) == (2, 0, 0, 1)
    assert sorted(await asked_for(run)) == ["a", "b"]


async def test_rows_that_lists_bring_whole_may_later_be_mentioned(store):
    await whole_pass(store, "a")
    (row,) = rows("a")
    run = await listed_pass(store, mention("a", row.hash))
    assert await asked_for(run) == {}
    assert counted(await run.checkpoint()) == (0, 0, 1, 0)
