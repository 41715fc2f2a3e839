import asyncio

import msgspec
import pytest

from headgate.core.errors import StaleIngest, UnknownJob, UsageError
from headgate.core.item import NewItem
from headgate.core.job import Counts, NewJob
from headgate.core.status import ItemStatus, JobMove, JobState
from headgate.ports.items import EnqueueRequest, KnownRow
from tests.kit import factories


@pytest.fixture
async def job(store):
    return await store.jobs.create_job(NewJob("price.lookup", "file.csv", owner="ada"))


async def stored(store, job_id):
    return await store.reads.export_rows(job_id, 0, 1_000)


async def test_rows_are_stored_in_input_order_with_all_they_carry(store, job):
    items = [
        NewItem("b", '{"x":1}', 2, "api.example:443", "first"),
        NewItem("a", '{"x":2}', 3),
    ]
    report = await store.items.enqueue_many(EnqueueRequest(job.id, items))
    assert (report.inserted, list(report.known)) == (2, [])
    rows = await stored(store, job.id)
    assert [(row.key, row.input) for row in rows] == [("b", '{"x":1}'), ("a", '{"x":2}')]
    detail = await store.reads.item(rows[0].id)
    row = detail.row
    assert (row.owner, row.handler, row.gate) == ("ada", "price.lookup", "api.example:443")
    assert (row.line, row.summary) == (2, "first")
    assert (row.status, row.attempts, detail.epoch) == (ItemStatus.PENDING, 0, 0)


async def test_rows_position_and_counters_commit_together(store, job):
    await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(3), "p1", ""))
    assert (await store.reads.job(job.id)).ingest_position == "p1"
    assert await store.reads.counts(job.id) == Counts(pending=3)


async def test_a_stale_position_writes_nothing(store, job):
    await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(3), "p1", ""))
    with pytest.raises(StaleIngest):
        await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(3, 4), "p2", ""))
    assert await store.reads.counts(job.id) == Counts(pending=3)
    assert (await store.reads.job(job.id)).ingest_position == "p1"


async def test_of_two_readers_at_one_position_only_one_continues(store, other, job):
    await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(2), "p1", ""))
    await other.items.enqueue_many(EnqueueRequest(job.id, factories.rows(2, 3), "p2", "p1"))
    with pytest.raises(StaleIngest):
        await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(2, 3), "p2", "p1"))
    assert await store.reads.counts(job.id) == Counts(pending=4)


async def test_a_position_moves_without_rows(store, job):
    report = await store.items.enqueue_many(EnqueueRequest(job.id, [], "end", ""))
    assert report.inserted == 0
    assert (await store.reads.job(job.id)).ingest_position == "end"


async def test_enqueueing_twice_is_harmless(store, job):
    await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(3)))
    before = await factories.everything(store, job.id)
    report = await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(3)))
    assert report.inserted == 0
    # The same line again is a batch that was interrupted, not a key that came twice.
    assert [row.duplicate for row in report.known] == [False] * 3
    assert await factories.everything(store, job.id) == before
    assert await store.reads.counts(job.id) == Counts(pending=3)


async def test_a_batch_that_was_packed_in_another_thread_is_stored_as_it_would_be(store, job):
    items = [
        NewItem("a\tb", '{"x":"\\n"}', 2, "api.example:443", "s\\"),
        NewItem("c\x00", '{"x":"\u00fc"}', 3, problem="broken:\nhere"),
    ]
    await store.items.enqueue_many(EnqueueRequest(job.id, items))
    other = await store.jobs.create_job(NewJob("price.lookup", "other.csv", owner="ada"))
    packed = await asyncio.to_thread(store.items.pack, items)
    await store.items.enqueue_many(EnqueueRequest(other.id, items, packed=packed))
    rows, again = await stored(store, job.id), await stored(store, other.id)
    assert [(r.key, r.input, r.status) for r in again] == [(r.key, r.input, r.status) for r in rows]
    assert await store.reads.counts(other.id) == Counts(pending=1, error=1)


async def test_known_rows_of_a_packed_batch_are_passed_over(store, job):
    await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(2)))
    items = factories.rows(4)
    packed = store.items.pack(items)
    report = await store.items.enqueue_many(EnqueueRequest(job.id, items, packed=packed))
    assert (report.inserted, len(report.known)) == (2, 2)
    assert [row.key for row in await stored(store, job.id)] == [item.key for item in items]


async def test_a_key_that_comes_twice_in_one_batch_is_stored_once_and_named(store, job):
    twice = [NewItem("k", '{"a":1}', 2), NewItem("l", "{}", 3), NewItem("k", '{"a":2}', 4)]
    report = await store.items.enqueue_many(EnqueueRequest(job.id, twice))
    assert report.inserted == 2
    assert list(report.known) == [KnownRow("k", 4, 2, changed=True, duplicate=True)]
    assert [row.input for row in await stored(store, job.id)] == ['{"a":1}', "{}"]


async def test_a_key_that_comes_again_in_a_later_batch_is_a_duplicate(store, job):
    await store.items.enqueue_many(EnqueueRequest(job.id, [NewItem("k", "{}", 2)], "p1", ""))
    again = EnqueueRequest(job.id, [NewItem("k", "{}", 9), NewItem("l", "{}", 10)], "p2", "p1")
    report = await store.items.enqueue_many(again)
    assert report.inserted == 1
    assert list(report.known) == [KnownRow("k", 9, 2, changed=False, duplicate=True)]


async def test_a_second_reading_knows_the_rows_of_the_first(store, job):
    first = [NewItem("k", '{"a":1}', 2), NewItem("l", "{}", 3)]
    await store.items.enqueue_many(EnqueueRequest(job.id, first))
    await store.jobs.complete_ingest(job.id, ("a",))
    await store.jobs.reopen_ingest(job.id, "other content")
    second = [NewItem("new", "{}", 2), NewItem("k", '{"a":2}', 3), NewItem("l", "{}", 4)]
    report = await store.items.enqueue_many(EnqueueRequest(job.id, second, "p1", ""))
    assert report.inserted == 1
    assert list(report.known) == [
        KnownRow("k", 3, 3, changed=True, duplicate=False),
        KnownRow("l", 4, 4, changed=False, duplicate=False),
    ]
    rows = await stored(store, job.id)
    assert [(row.key, row.input) for row in rows] == [
        ("k", '{"a":1}'),
        ("l", "{}"),
        ("new", "{}"),
    ]


async def test_a_second_reading_still_sees_its_own_duplicates(store, job):
    await store.items.enqueue_many(EnqueueRequest(job.id, [NewItem("k", "{}", 2)]))
    await store.jobs.reopen_ingest(job.id, "other content")
    await store.items.enqueue_many(EnqueueRequest(job.id, [NewItem("k", "{}", 5)], "p1", ""))
    again = EnqueueRequest(job.id, [NewItem("k", "{}", 8)], "p2", "p1")
    assert list((await store.items.enqueue_many(again)).known) == [
        KnownRow("k", 8, 5, changed=False, duplicate=True)
    ]


async def test_seeing_a_row_again_is_not_a_change_of_its_state(store, job):
    await store.items.enqueue_many(EnqueueRequest(job.id, [NewItem("k", "{}", 2)]))
    (row,) = await stored(store, job.id)
    before = (await store.reads.item(row.id)).row
    await store.jobs.reopen_ingest(job.id, "same")
    await store.items.enqueue_many(EnqueueRequest(job.id, [NewItem("k", "{}", 7)]))
    after = (await store.reads.item(row.id)).row
    assert after == msgspec.structs.replace(before, line=7)


async def test_a_bad_row_is_kept_as_an_error_with_its_reason(store, job):
    bad = [NewItem("1", "{}", 2), NewItem("2", '{"raw":"a,b"}', 3, problem="3 cells, not 2")]
    await store.items.enqueue_many(EnqueueRequest(job.id, bad))
    assert await store.reads.counts(job.id) == Counts(pending=1, error=1)
    rows = await stored(store, job.id)
    assert (rows[1].status, rows[1].error_class) == (ItemStatus.ERROR, "bad_row")
    assert rows[1].error == "3 cells, not 2"


NASTY = [
    "tab\there",
    "line\nbreak\r\n",
    "back\\slash \\N \\. \\t",
    'quo"te',
    "'; DROP TABLE items; --",
    "{curly,braces}",
    "NULL",
    "null",
    "",
    "ünïcödé 日本語 🦊",
    "\x7f\x01",
]


@pytest.mark.parametrize("text", NASTY)
async def test_any_text_comes_back_as_it_went_in(store, job, text):
    inputs = msgspec.json.encode({"value": text}).decode()
    items = [NewItem(text, inputs, 1, text, text, problem=text or "empty")]
    # Once by the short way, once beside a row that is known.
    await store.items.enqueue_many(EnqueueRequest(job.id, items))
    mixed = [*items, NewItem(text + "+", inputs, 2, text, text, problem=text or "empty")]
    report = await store.items.enqueue_many(EnqueueRequest(job.id, mixed))
    assert [(row.key, row.changed) for row in report.known] == [(text, False)]
    for row, key in zip(await stored(store, job.id), [text, text + "+"], strict=True):
        detail = await store.reads.item(row.id)
        assert (row.key, row.input, row.error) == (key, inputs, text or "empty")
        assert (detail.row.gate, detail.row.summary) == (text, text)


@pytest.mark.parametrize("state", [JobState.FAILED, JobState.CANCELLED, JobState.DONE])
async def test_a_finished_job_takes_no_items_and_says_why(store, state):
    finished = await factories.job_in(store, state)
    with pytest.raises(UsageError, match=state):
        await store.items.enqueue_many(EnqueueRequest(finished.id, factories.rows(1)))
    assert (await store.reads.counts(finished.id)).total == 0


async def test_a_missing_job_takes_no_items(store):
    with pytest.raises(UnknownJob, match="4711"):
        await store.items.enqueue_many(EnqueueRequest(4711, factories.rows(1)))


async def test_an_open_job_takes_items_until_it_is_closed(store):
    queue = await store.jobs.create_job(NewJob("price.lookup", "queue:x", open=True))
    await store.items.enqueue_many(EnqueueRequest(queue.id, factories.rows(1)))
    await store.jobs.close_queue(queue.id)
    with pytest.raises(UsageError, match="closed"):
        await store.items.enqueue_many(EnqueueRequest(queue.id, factories.rows(1, 2)))
    assert await store.reads.counts(queue.id) == Counts(pending=1)


async def test_a_paused_job_continues_taking_items(store, job):
    await store.jobs.move_job(job.id, JobMove.PAUSE)
    await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(2)))
    assert await store.reads.counts(job.id) == Counts(pending=2)
