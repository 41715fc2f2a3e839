"""Rows of a page are committed with its settlement; a newer pass changes only what differs."""

import msgspec
import pytest

from headgate.core.errors import IllegalMove, UsageError
from headgate.core.job import Counts
from headgate.core.mirror import ChangeKind, MirrorRow, Proof
from headgate.core.status import ItemStatus, JobMove, JobState
from headgate.ports.items import HeldLease
from headgate.ports.mirrors import NewCheckpoint, RowQuery
from headgate.ports.reads import EventQuery
from tests.kit import factories
from tests.kit.mirrors import PEOPLE, PETS, a_pass, begin, follow_up, rows, run_of, whole_pass


async def test_a_pass_begins_with_mirror_streams_checkpoints_and_items_at_once(store):
    job = await begin(store, 3, checkpoints=[PEOPLE, PETS])
    assert (job.state, job.ingest_complete) == (JobState.QUEUED, True)
    (mirror,) = await store.mirrors.mirrors("local")
    assert (mirror.name, mirror.source, mirror.id) == ("books", {"url": "x"}, job.mirror_id)
    assert [each.name for each in await store.mirrors.streams(mirror.id)] == ["people", "pets"]
    people, pets = await store.mirrors.checkpoints(job.id)
    assert (people.after, pets.after, people.completed_at) == ("", "people", None)
    assert await store.reads.counts(job.id) == Counts(pending=3)
    assert await store.mirrors.passes(mirror.id, None, 10) == [job.id]


async def test_a_mirror_has_one_unfinished_pass_at_a_time(store):
    first = await begin(store)
    second = await begin(store)
    assert (second.id, second.made_before) == (first.id, True)
    await store.jobs.move_job(first.id, JobMove.CANCEL)
    assert (await begin(store)).id != first.id


async def test_owners_have_mirrors_of_the_same_name(store):
    await begin(store)
    request = a_pass()
    other = msgspec.structs.replace(request, job=msgspec.structs.replace(request.job, owner="ann"))
    await store.mirrors.begin_pass(other)
    assert len(await store.mirrors.mirrors()) == 2
    assert [each.owner for each in await store.mirrors.mirrors("ann")] == ["ann"]
    assert (await store.mirrors.mirror("ann", "books")).owner == "ann"
    assert await store.mirrors.mirror("bob", "books") is None


@pytest.mark.parametrize(
    "checkpoints",
    [[], [PEOPLE, PEOPLE], [PETS], [NewCheckpoint("pets", "pets", {})]],
    ids=["none", "twice", "unknown parent", "unknown to an item"],
)
async def test_a_pass_that_could_never_be_closed_is_refused(store, checkpoints):
    with pytest.raises(UsageError):
        await begin(store, 1, checkpoints=checkpoints)
    assert await store.mirrors.mirrors() == []


async def test_rows_are_stored_as_they_were_received(store):
    run = await run_of(store)
    (page,) = await run.claim()
    raw = msgspec.Raw(b'{"z":1,"a":[1.50,"\\u00e4\\u0000"],"n":null}')
    given = MirrorRow("people", "7", raw, "h", updated="2026-01-01", parent="p")
    report = await run.settle(page, rows=[given])
    assert (report.refused, report.kept, report.spawned) == ([], 1, 1)
    (row,) = await run.stored()
    assert (row.id, row.hash, row.updated, row.parent) == ("7", "h", "2026-01-01", "p")
    assert (row.body, row.deleted_at) == (bytes(raw).decode(), None)
    assert (row.first_pass, row.seen_pass) == (run.job.id, run.job.id)
    stream = await run.stream()
    assert await store.mirrors.row(stream.id, "7") == row
    assert await store.mirrors.row(stream.id, "8") is None


@pytest.mark.parametrize("text", ['q"uo\\te', "line\nbreak", "{a,b}", "ünï🦊", "null", "'; --"])
async def test_any_text_survives_in_a_row(store, text):
    run = await run_of(store)
    (page,) = await run.claim()
    given = MirrorRow("people", text, {text: text}, "h", updated=text, parent=text)
    await run.settle(page, rows=[given])
    (row,) = await run.stored()
    assert (row.id, row.updated, row.parent) == (text, text, text)
    assert msgspec.json.decode(row.body) == {text: text}


async def test_a_second_pass_counts_what_is_new_changed_and_the_same(store):
    await whole_pass(store, 1, 2, 3)
    run = await run_of(store)
    (page,) = await run.claim()
    given = [*rows(1), *rows(2, body={"x": 1}), *rows(4)]
    await run.settle(page, rows=given)
    checkpoint = await run.checkpoint()
    counted = (checkpoint.added, checkpoint.changed, checkpoint.unchanged, checkpoint.repeated)
    assert (counted, checkpoint.pages) == ((1, 1, 1, 0), 1)
    by_id = {row.id: row for row in await run.stored()}
    assert msgspec.json.decode(by_id["2"].body) == {"id": 2, "x": 1}
    assert by_id["2"].changed_at > by_id["1"].changed_at
    assert (by_id["1"].first_pass < by_id["1"].seen_pass, by_id["4"].first_pass) == (
        True,
        run.job.id,
    )


async def test_a_row_that_comes_twice_in_a_pass_is_counted_as_repeated(store):
    run = await run_of(store, 2)
    first, second = await run.claim()
    await run.settle(first, rows=rows(1, 2))
    await run.settle(second, rows=[*rows(2), *rows(3), *rows(3, body={"x": 1})])
    checkpoint = await run.checkpoint()
    assert (checkpoint.added, checkpoint.unchanged, checkpoint.repeated) == (3, 0, 2)
    assert [msgspec.json.decode(row.body).get("x") for row in await run.stored()] == [None, None, 1]


async def test_pages_of_one_batch_share_a_row(store):
    run = await run_of(store, 2)
    first, second = await run.claim()
    report = await run.settle_all({first: {"rows": rows(1, 2)}, second: {"rows": rows(2, 3)}})
    assert report.kept == 4
    assert await run.live() == ["1", "2", "3"]
    assert (await run.checkpoint()).repeated == 1


async def test_changes_are_logged_with_the_body_before(store):
    await whole_pass(store, 1, 2)
    run = await run_of(store)
    (page,) = await run.claim()
    await run.settle(page, rows=[*rows(1, body={"x": 1}), *rows(2, deleted=True)])
    stream = await run.stream()
    changed, deleted = await store.mirrors.changes(stream.id, 0, 10)
    assert (changed.kind, changed.row_id, changed.pass_id) == (
        ChangeKind.CHANGED,
        "1",
        run.job.id,
    )
    assert msgspec.json.decode(changed.before) == {"id": 1}
    assert (deleted.kind, deleted.row_id) == (ChangeKind.DELETED, "2")
    assert await store.mirrors.changes(stream.id, changed.id, 10) == [deleted]
    assert await store.mirrors.changes_of(deleted.row) == [deleted]


async def test_a_mirror_without_history_keeps_no_body_before(store):
    await whole_pass(store, 1)
    run = await run_of(store, history=False)
    (page,) = await run.claim()
    await run.settle(page, rows=rows(1, body={"x": 1}))
    (change,) = await store.mirrors.changes((await run.stream()).id, 0, 10)
    assert change.before is None


async def test_a_refused_settlement_keeps_nothing_of_its_attachment(store):
    run = await run_of(store, 2)
    stale, good = await run.claim()
    await store.items.release(run.who, [HeldLease(stale.id, stale.epoch)])
    more = {"items": [follow_up("next")], "total": 9, "fields": {"people": {"id": 4}}}
    report = await run.settle_all({stale: {"rows": rows(1), **more}, good: {"rows": rows(2)}})
    assert (report.refused, report.kept, report.spawned) == ([stale.id], 1, 0)
    assert await run.live() == ["2"]
    assert (await run.checkpoint()).total is None
    assert await store.mirrors.fields((await run.stream()).id) == []
    assert await store.reads.counts(run.job.id) == Counts(pending=1, done=1)


async def test_an_attachment_sent_twice_is_kept_once(store):
    run = await run_of(store, 2)
    (page,) = await run.claim(1)
    await run.settle(page, rows=rows(1), items=[follow_up("next")])
    report = await run.settle(page, rows=rows(1, 2), items=[follow_up("another")])
    assert (report.refused, report.kept, report.spawned) == ([page.id], 0, 0)
    assert (await run.checkpoint()).pages == 1


@pytest.mark.parametrize("status", [ItemStatus.ERROR, ItemStatus.PENDING])
async def test_an_item_that_has_not_ended_brings_nothing(store, status):
    run = await run_of(store)
    (page,) = await run.claim()
    report = await run.settle(page, status, rows=rows(1), items=[follow_up("next")])
    assert (report.kept, report.spawned, await run.live()) == (0, 0, [])


async def test_follow_ups_are_added_once_and_counted(store):
    run = await run_of(store, 2)
    first, second = await run.claim()
    report = await run.settle(first, items=[follow_up("a", n=1), follow_up("a"), follow_up("b")])
    assert report.spawned == 2
    assert (await run.settle(second, items=[follow_up("b")])).spawned == 0
    assert await store.reads.counts(run.job.id) == Counts(pending=2, done=2)
    assert [(item.key, item.input) for item in await run.claim()] == [("a", '{"n":1}'), ("b", "{}")]


async def test_what_follows_from_a_row_is_added_only_if_the_row_is_new_or_changed(store):
    await whole_pass(store, 1, 2)
    run = await run_of(store)
    (page,) = await run.claim()
    given = [
        *rows(1, then=follow_up("same")),
        *rows(2, body={"x": 1}, then=follow_up("changed")),
        *rows(3, then=follow_up("new")),
    ]
    await run.settle(page, rows=given)
    assert [item.key for item in await run.claim()] == ["changed", "new"]


async def test_any_job_may_bring_further_items(store):
    job, who = await factories.job(store, 1), await factories.worker(store)
    run = type(await run_of(store))(store, job, who)
    (item,) = await run.claim()
    assert (await run.settle(item, items=[follow_up("next", "")])).spawned == 1
    assert await store.reads.counts(job.id) == Counts(pending=1, done=1)


async def test_fields_are_kept_in_order_and_drift_is_an_event(store):
    run = await run_of(store, 3)
    first, second, third = await run.claim()
    await run.settle(first, fields={"people": {"id": 4, "name": 16}})
    await run.settle(second, fields={"people": {"age": 4, "id": 20}})
    await run.settle(third, fields={"people": {"age": 4, "id": 16}})
    fields = await store.mirrors.fields((await run.stream()).id)
    assert [(each.name, each.types) for each in fields] == [("id", 20), ("name", 16), ("age", 4)]
    events = [
        e.message for e in await store.reads.events(EventQuery(run.job.id)) if e.kind == "schema"
    ]
    assert len(events) == 2
    assert "new field age (integer)" in events[1]
    assert "id is now integer, string" in events[1]


async def test_rows_of_an_unknown_stream_are_refused_as_a_whole(store):
    run = await run_of(store)
    (page,) = await run.claim()
    with pytest.raises(UsageError, match="no stream 'cars'"):
        await run.settle(page, rows=rows(1, stream="cars"))
    assert await store.reads.counts(run.job.id) == Counts(processing=1)
    await run.settle(page)


async def test_rows_are_read_in_pages_by_number(store):
    run = await whole_pass(store, *range(25))
    stream = await run.stream()
    seen, after = [], 0
    while page := await store.mirrors.rows(RowQuery(stream.id, after, 10)):
        assert len(page) <= 10
        seen += [row.id for row in page]
        after = page[-1].number
    assert seen == [str(n) for n in range(25)]


async def test_page_results_are_the_results_of_pages_that_ended_well(store):
    run = await run_of(store, 5)
    items = await run.claim()
    for item in items[:3]:
        await run.settle(item)
    await run.settle(items[3], ItemStatus.NOT_FOUND)
    first = await store.mirrors.page_results(run.job.id, "people", 0, 2)
    rest = await store.mirrors.page_results(run.job.id, "people", first[-1].item_id, 10)
    assert [each.key for each in [*first, *rest]] == [item.key for item in items[:3]]
    assert first[0].result == factories.RESULT


async def test_a_mirror_is_forgotten_in_bounded_steps_and_its_jobs_stay(store):
    await whole_pass(store, 1, 2)
    run = await whole_pass(store, 1, 2, 3)
    kept = await whole_pass(store, 1, 2, mirror="kept")
    mirror_id = (await store.mirrors.mirror("local", "books")).id
    steps = 0
    while await store.mirrors.forget(mirror_id, 1):
        steps += 1
    assert steps == 3
    assert await store.mirrors.mirror("local", "books") is None
    assert (await store.reads.job(run.job.id)).mirror_id is None
    assert await store.mirrors.passes(mirror_id, None, 10) == []
    assert await kept.live() == ["1", "2"]


async def test_a_mirror_is_not_forgotten_during_a_pass(store):
    run = await run_of(store)
    with pytest.raises(IllegalMove, match="cancel this pass"):
        await store.mirrors.forget((await run.stream()).mirror_id)


async def test_old_changes_are_deleted_in_bounded_steps(store, place):
    await whole_pass(store, 1, 2, 3)
    run = await run_of(store)
    (page,) = await run.claim()
    await run.settle(page, rows=rows(1, 2, 3, body={"x": 1}))
    place.execute("UPDATE row_changes SET at = at - 10000000 WHERE pass_id > 0")
    await store.jobs.retain(5_000_000, 2)
    stream = await run.stream()
    assert len(await store.mirrors.changes(stream.id, 0, 10)) == 1
    await store.jobs.retain(5_000_000, 2)
    assert await store.mirrors.changes(stream.id, 0, 10) == []
    assert await run.live() == ["1", "2", "3"]


async def test_proofs_and_modes_are_checked_by_the_database_too(store, place):
    run = await whole_pass(store, 1, proof=Proof.UNPROVEN)
    for change in ("proof = 'perhaps'", "proof = NULL", "deletes = (1 = 1)", "mode = 'half'"):
        with pytest.raises(Exception, match=r"(?i)constraint"):
            place.execute(f"UPDATE checkpoints SET {change} WHERE job_id = {run.job.id}")
