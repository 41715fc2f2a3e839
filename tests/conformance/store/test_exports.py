"""Exports that the server makes."""

import asyncio

import pytest

from headgate.core.errors import CapReached, UnknownExport, UnknownJob
from headgate.core.fair_turns import Waiting
from headgate.ports.exports import ExportDone, ExportState, NewExport
from headgate.ports.reads import EventQuery
from tests.kit import factories

DONE = ExportDone(3, "abc", "exports/1.csv", 99, {"columns": ["a", "ä"]})


async def asked(store, job=None, user="ann", cap=None):
    job = job or await factories.job(store, 3)
    new = NewExport(job.id, "csv", user, {"formulas": "neutral"}, cap)
    return await store.exports.ask_export(new)


async def taken(store, holder, ttl_s=60.0):
    """The oldest that waits, taken by `holder`; None if none waits."""
    waiting = await store.exports.exports_to_make(1)
    return await store.exports.take_export(waiting[0].id, holder, ttl_s) if waiting else None


async def test_an_export_waits_until_someone_takes_it(store, other):
    made = await asked(store)
    assert (made.state, made.rows, made.options) == (ExportState.QUEUED, 0, {"formulas": "neutral"})
    running = await taken(other, "w1")
    assert (running.id, running.state) == (made.id, ExportState.RUNNING)
    assert await store.exports.exports_to_make(1) == []
    assert await store.exports.take_export(made.id, "w2", 60.0) is None
    assert await store.exports.advance_export(made.id, "w1", 2, 60.0)
    assert (await store.exports.export(made.job_id, made.id)).rows == 2
    assert await store.exports.finish_export(made.id, "w1", DONE)
    done = await store.exports.export(made.job_id, made.id)
    assert (done.state, done.rows, done.sha256) == (ExportState.DONE, 3, "abc")
    assert (done.file, done.size, done.report) == ("exports/1.csv", 99, {"columns": ["a", "ä"]})
    assert done.finished_at is not None
    events = await store.reads.events(EventQuery(made.job_id))
    assert [event.kind for event in events][-3:] == ["export_asked", *["export_state"] * 2]
    assert "by ann" in events[-3].message


async def test_each_goes_to_one_holder(store, other):
    job = await factories.job(store, 1)
    ids = [(await asked(store, job)).id for _ in range(4)]
    takers = [
        each.exports.take_export(export_id, f"w{n}", 60.0)
        for export_id in ids
        for n, each in enumerate((store, other))
    ]
    got = [found.id for found in await asyncio.gather(*takers) if found is not None]
    assert sorted(got) == ids
    assert [each.id for each in await store.exports.exports(job.id)] == ids[::-1]


async def test_the_oldest_of_each_user_wait_in_order(store):
    """SL5: a user with many exports does not hide those of another."""
    job = await factories.job(store, 1)
    ann = [(await asked(store, job)).id for _ in range(5)]
    bob = (await asked(store, job, "bob")).id
    found = await store.exports.exports_to_make(2)
    assert found == [Waiting(ann[0], "ann"), Waiting(ann[1], "ann"), Waiting(bob, "bob")]
    await store.exports.take_export(ann[0], "w1", 60.0)
    await store.exports.take_export(ann[1], "w2", 0.0)
    found = await store.exports.exports_to_make(2)
    assert [each.id for each in found] == [*ann[1:3], bob]
    assert await store.exports.take_export(4711, "w1", 60.0) is None


async def test_a_user_has_a_bounded_number_of_unfinished_exports(store, other):
    """SL5."""
    job = await factories.job(store, 1)
    asking = [asked(each, job, cap=3) for each in (store, other) for _ in range(4)]
    answers = await asyncio.gather(*asking, return_exceptions=True)
    refused = [each for each in answers if isinstance(each, CapReached)]
    assert (len(answers) - len(refused), len(refused)) == (3, 5)
    assert "3 unfinished exports, and 3 are allowed" in str(refused[0])
    await asked(store, job, "bob", cap=3)
    running = await taken(store, "w1")
    with pytest.raises(CapReached):
        await asked(store, job, cap=3)
    await store.exports.finish_export(running.id, "w1", DONE)
    await asked(store, job, cap=3)


async def test_a_silent_holder_loses_it_to_the_next(store):
    made = await asked(store)
    await taken(store, "w1", 0.0)
    assert (await taken(store, "w2")).id == made.id
    assert not await store.exports.advance_export(made.id, "w1", 5, 60.0)
    assert not await store.exports.finish_export(made.id, "w1", DONE)
    assert not await store.exports.fail_export(made.id, "w1", "late")
    assert await store.exports.advance_export(made.id, "w2", 1, 60.0)


async def test_a_failed_export_says_why(store):
    made = await asked(store)
    await taken(store, "w1")
    assert await store.exports.fail_export(made.id, "w1", "no space left")
    failed = await store.exports.export(made.job_id, made.id)
    assert (failed.state, failed.error) == (ExportState.FAILED, "no space left")
    assert await taken(store, "w1") is None
    assert not await store.exports.finish_export(made.id, "w1", DONE)


async def test_what_is_unknown_is_reported(store):
    made = await asked(store)
    another = await factories.job(store, 1)
    for job_id, export_id in ((another.id, made.id), (made.job_id, 4711)):
        with pytest.raises(UnknownExport):
            await store.exports.export(job_id, export_id)
    with pytest.raises(UnknownJob):
        await store.exports.ask_export(NewExport(4711, "csv", "ann"))
    assert await store.exports.exports(another.id) == []


async def test_old_exports_are_dropped_and_handed_back_for_their_files(store, place):
    job = await factories.job(store, 1)
    for holder in ("w1", "w2"):
        made = await asked(store, job)
        await taken(store, holder)
        await store.exports.finish_export(made.id, holder, DONE)
    waiting = await asked(store, job)
    assert await store.exports.drop_exports(60_000_000) == []
    place.execute("UPDATE exports SET finished_at = finished_at - 120000000")
    (first,) = await store.exports.drop_exports(60_000_000, limit=1)
    assert first.file == "exports/1.csv"
    assert len(await store.exports.drop_exports(60_000_000)) == 1
    assert [each.id for each in await store.exports.exports(job.id)] == [waiting.id]


async def test_exports_go_with_their_job(store, place):
    made = await asked(store)
    await taken(store, "w1")
    await factories.remove(store, made.job_id)
    assert place.execute("SELECT id FROM exports") == []
    assert not await store.exports.advance_export(made.id, "w1", 1, 60.0)
