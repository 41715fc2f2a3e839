"""One job for one source, also if several processes ask at once; and what it is bound to."""

import asyncio

from headgate.core.item import NewItem
from headgate.core.job import Binding, NewJob
from headgate.engine.job_matching import JobMatching, MatchKind
from headgate.ports.items import EnqueueRequest
from headgate.ports.reads import EventQuery, ItemQuery, JobQuery
from tests.kit import factories

NEW = NewJob("/p/h.py:f", "/p/rows.csv", fingerprint="f1", options={"encoding": "cp1252"})


async def test_several_who_ask_at_once_get_one_job(store, other):
    both = [JobMatching(each.jobs, each.reads) for each in (store, other)]
    found = await asyncio.gather(*(matching.admit(NEW) for matching in both * 10))
    assert len({matched.job.id for matched in found}) == 1
    assert sum(matched.entry is MatchKind.NEW for matched in found) == 1
    assert len(await store.reads.jobs(JobQuery())) == 1


async def test_a_job_is_made_only_while_what_was_seen_is_the_newest(store, other):
    def asked(newest: int | None) -> NewJob:
        return NewJob("h", "rows.csv", newest=newest)

    first = await store.jobs.create_job(asked(0))
    late = await other.jobs.create_job(asked(0))
    assert (late.id, late.made_before, first.made_before) == (first.id, True, False)
    second = await other.jobs.create_job(asked(first.id))
    assert (second.id != first.id, second.made_before) == (True, False)
    assert (await store.jobs.create_job(asked(first.id))).id == second.id
    assert (await store.jobs.create_job(asked(None))).id not in {first.id, second.id}
    elsewhere = NewJob("h", "other.csv", newest=0)
    assert not (await store.jobs.create_job(elsewhere)).made_before


async def test_options_are_kept_and_may_be_unknown(store, place):
    made = await store.jobs.create_job(NEW)
    assert (await store.reads.job(made.id)).options == {"encoding": "cp1252"}
    place.execute("UPDATE jobs SET options = NULL")
    assert (await store.reads.job(made.id)).options is None
    resumed = await JobMatching(store.jobs, store.reads).admit(NEW)
    assert (resumed.entry, resumed.job.id) == (MatchKind.RESUME, made.id)


async def test_similar_jobs_have_the_same_content_or_a_source_of_the_same_name(store):
    async def made(source: str, fingerprint: str, **more) -> int:
        new = NewJob("h", source, fingerprint=fingerprint, **more)
        return (await store.jobs.create_job(new)).id

    content = await made("/a/x.csv", "f1")
    name = await made("/b/rows.csv", "f2")
    await made("/b/brows.csv", "f2")
    await made("/c/rows.csv", "f1", owner="somebody")
    await made("/c/rows.csv", "f1", reading={})
    await made("queue:rows.csv", "f1", open=True)
    found = await store.jobs.similar_jobs("local", "f1", "/rows.csv")
    assert [job.id for job in found] == [name, content]
    assert [job.id for job in await store.jobs.similar_jobs("local", "", "/rows.csv")] == [name]


async def test_a_job_and_its_items_are_bound_to_another_handler(store):
    job = await factories.job(store, 5, NEW)
    binding = Binding("/q/h.py:f", "/q/rows.csv", {"out": "/q"}, {"version": "2"})
    bound = await store.jobs.rebind_job(job.id, binding)
    assert (bound.handler, bound.source, bound.config) == (
        "/q/h.py:f",
        "/q/rows.csv",
        {"out": "/q"},
    )
    assert (bound.options, bound.state) == ({"version": "2"}, job.state)
    after_id, steps = 0, 0
    while after_id := await store.jobs.rebind_items(job.id, after_id, limit=2):
        steps += 1
    assert steps == 3
    items = (await store.reads.items(ItemQuery(job.id))).items
    assert {item.handler for item in items} == {"/q/h.py:f"}
    messages = [event.message for event in await store.reads.events(EventQuery(job.id))]
    assert "handler /p/h.py:f → /q/h.py:f; source /p/rows.csv → /q/rows.csv" in messages


def row(key: str, line: int, problem: str | None = None) -> NewItem:
    return NewItem(key, f'{{"line":{line}}}', line, problem=problem)


async def test_a_batch_with_duplicates_can_be_held_back_whole(store):
    job = await store.jobs.create_job(NEW)
    first = EnqueueRequest(job.id, [row("a", 1)], "p1", "", hold_duplicates=True)
    assert not (await store.items.enqueue_many(first)).held
    batch = [row("b", 2), row("a", 3), row("c", 4), row("b", 5)]
    request = EnqueueRequest(job.id, batch, "p2", "p1", hold_duplicates=True)
    held = await store.items.enqueue_many(request)
    assert (held.held, held.inserted) == (True, 0)
    duplicates = {known.line: known.first_line for known in held.known if known.duplicate}
    assert duplicates == {3: 1, 5: 2}
    assert (await store.reads.counts(job.id)).total == 1
    assert (await store.reads.job(job.id)).ingest_position == "p1"
    batch[1], batch[3] = row("a#3", 3, "duplicate"), row("b#5", 5, "duplicate")
    again = EnqueueRequest(job.id, batch, "p2", "p1", hold_duplicates=True)
    assert (await store.items.enqueue_many(again)).inserted == 4
    items = (await store.reads.items(ItemQuery(job.id))).items
    assert [item.line for item in items] == [1, 2, 3, 4, 5]


async def test_bad_rows_that_a_new_reading_has_not_met_are_dropped(store):
    job = await store.jobs.create_job(NEW)
    rows = [row("a", 1), row("b#2", 2, "bad"), row("c#3", 3, "bad"), row("d", 4)]
    await store.items.enqueue_many(EnqueueRequest(job.id, rows, "p1", ""))
    assert await store.jobs.drop_unseen(job.id) == 0
    await store.jobs.complete_ingest(job.id, ("line",))
    await store.jobs.reopen_ingest(job.id, "f2")
    mended = [row("a", 1), row("b", 2), row("c#3", 3, "bad")]
    await store.items.enqueue_many(EnqueueRequest(job.id, mended, "p1", ""))
    dropped = [await store.jobs.drop_unseen(job.id, 1) for _ in range(2)]
    assert dropped == [1, 0]
    keys = [item.key for item in (await store.reads.items(ItemQuery(job.id))).items]
    assert keys == ["a", "c#3", "d", "b"]
    counts = await store.reads.counts(job.id)
    assert (counts.error, counts.pending) == (1, 3)
    assert await store.reads.check(repair=False) == []
