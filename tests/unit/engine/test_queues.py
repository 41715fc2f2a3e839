"""Queues that are fed over time."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from headgate.core.errors import UnknownJob, UsageError
from headgate.core.job import NewJob
from headgate.core.sizing import IngestPolicy, IngestSizer
from headgate.core.status import ItemStatus
from headgate.engine.clock import SystemClock
from headgate.engine.job_control import JobControl
from headgate.engine.queues import QueueRow, Queues, QueueWriter, content_key, key_by, source_of
from headgate.ports.reads import ItemQuery, JobQuery
from headgate.ports.store import Store
from headgate.stores.sqlite.store import SqliteStore


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


def feed_into(store: Store, job_id: int, *columns: str) -> QueueWriter:
    sizer = IngestSizer(IngestPolicy(min_rows=2, max_rows=2))
    return QueueWriter(store, job_id, key_by(columns), sizer, SystemClock())


async def test_a_queue_is_created_once_and_remembers_its_handler(store: Store):
    queues = Queues(store)
    made = await queues.get_or_make("nightly", "price")
    assert (made.open, made.name, made.source) == (True, "nightly", "queue:nightly")
    assert (await queues.get_or_make("nightly", None)).id == made.id
    assert (await queues.get_or_make("nightly", "price")).id == made.id
    assert [job.id for job in await queues.all()] == [made.id]


async def test_a_new_queue_needs_a_handler(store: Store):
    with pytest.raises(UsageError, match="--handler"):
        await Queues(store).get_or_make("nightly", None)


async def test_another_handler_is_refused(store: Store):
    await Queues(store).get_or_make("nightly", "price")
    with pytest.raises(UsageError, match="is run by price"):
        await Queues(store).get_or_make("nightly", "stock")


async def test_a_closed_queue_is_gone_and_can_be_created_again(store: Store):
    queues = Queues(store)
    first = await queues.get_or_make("nightly", "price")
    await JobControl(store).close(first.id)
    with pytest.raises(UnknownJob, match="no open queue is named 'nightly'"):
        await queues.get("nightly")
    assert (await queues.get_or_make("nightly", "stock")).id != first.id


async def test_two_callers_that_create_a_queue_at_the_same_time_get_the_same_queue(store: Store):
    elder = await store.jobs.create_job(NewJob("price", source_of("q"), name="q", open=True))
    made = await Queues(store)._make("q", "price", ())
    assert made.id == elder.id
    assert [job.id for job in await store.reads.jobs(JobQuery())] == [elder.id]


async def test_the_same_content_is_one_item(store: Store):
    job = await Queues(store).get_or_make("q", "price")
    feed = feed_into(store, job.id)
    for sku in ("a", "b", "a", "c", "b"):
        await feed.add(QueueRow(1, {"sku": sku, "x": 1}))
    await feed.flush()
    assert (feed.report.added, feed.report.known, feed.report.bad) == (3, 2, 0)
    assert (await store.reads.counts(job.id)).pending == 3


async def test_a_named_key_decides(store: Store):
    job = await Queues(store).get_or_make("q", "price")
    feed = feed_into(store, job.id, "sku")
    await feed.add(QueueRow(1, {"sku": "a", "x": 1}))
    await feed.add(QueueRow(2, {"sku": "a", "x": 2}))
    await feed.add(QueueRow(3, {"x": 2}))
    await feed.flush()
    assert (feed.report.added, feed.report.known, feed.report.bad) == (2, 1, 1)
    assert feed.report.problems == ["line 3: no value for the key column 'sku'"]
    counts = await store.reads.counts(job.id)
    assert (counts.pending, counts.error) == (1, 1)


def test_the_order_of_fields_does_not_matter():
    assert content_key({"a": 1, "b": 2}) == content_key({"b": 2, "a": 1})
    assert content_key({"a": 1}) != content_key({"a": "1"})


async def test_a_handler_names_the_gates_of_queue_items_too(store: Store):
    job = await Queues(store).get_or_make("q", "price")
    sizer = IngestSizer(IngestPolicy())
    names = key_by((), lambda row: row["url"].split("/")[2])
    feed = QueueWriter(store, job.id, names, sizer, SystemClock())
    await feed.add(QueueRow(1, {"url": "https://a.example/1"}))
    await feed.add(QueueRow(2, {"url": "nowhere"}))
    await feed.flush()
    good, bad = (await store.reads.items(ItemQuery(job.id))).items
    assert (good.gate, good.status) == ("a.example", ItemStatus.PENDING)
    assert bad.status is ItemStatus.ERROR
    assert "gate_of raised IndexError" in feed.report.problems[0]
