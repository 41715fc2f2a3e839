"""Each row is stored once, with any interruption."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from headgate.core.errors import BadSource, StoreFull, StoreUnreachable
from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.job import Job, NewJob
from headgate.core.sizing import IngestPolicy
from headgate.core.status import ItemStatus, JobMove, JobState
from headgate.engine.ingest import Ingest, IngestPlan, IngestReport
from headgate.engine.rows import BadRow, OnBadRow
from headgate.ports.handler import HandlerSpec
from headgate.ports.items import EnqueueReport, EnqueueRequest
from headgate.ports.store import Store
from headgate.stores.sqlite import SqliteStore
from headgate.testing import FakeClock
from headgate.transfer.sources import bytes_in, open_source

SMALL = IngestPolicy(min_rows=4, max_rows=4)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("sku,price\n" + "".join(f"A{n},{n}\n" for n in range(1, 51)))
    return path


class Killed(Exception):
    pass


class Hooked:
    """The store with something before or after each enqueue."""

    def __init__(
        self,
        store: Store,
        before: Callable[[int], Any] | None = None,
        after: Callable[[int], Any] | None = None,
    ) -> None:
        self.jobs, self.reads, self.notifier = store.jobs, store.reads, store.notifier
        self.items = self
        self.calls = 0
        self.sizes: list[int] = []
        self._items, self._before, self._after = store.items, before, after
        self.pack = store.items.pack

    async def enqueue_many(self, request: EnqueueRequest) -> EnqueueReport:
        self.calls += 1
        self.sizes.append(len(request.items))
        await self._hook(self._before)
        report = await self._items.enqueue_many(request)
        await self._hook(self._after)
        return report

    async def _hook(self, hook: Callable[[int], Any] | None) -> None:
        made = hook(self.calls) if hook else None
        if asyncio.iscoroutine(made):
            await made


def killing(when: int) -> Callable[[int], None]:
    def kill(call: int) -> None:
        if call == when:
            raise Killed

    return kill


async def new_job(store: Store, *key_columns: str, **more) -> Job:
    return await store.jobs.create_job(NewJob("h", "rows.csv", key_columns=key_columns, **more))


async def ingest(store: Any, clock: FakeClock, job: Job, path: Path, **plan) -> IngestReport:
    service = Ingest(store, clock, SMALL, Random(1))
    return await service.run(IngestPlan(job.id, open_source(path), **plan))


async def stored(store: Store, job: Job) -> list[tuple[str, str]]:
    rows = await store.reads.export_rows(job.id, 0, 10_000)
    return [(row.key, row.status) for row in rows]


def numbered(first: int, last: int) -> list[tuple[str, str]]:
    return [(str(n), "PENDING") for n in range(first, last + 1)]


async def test_every_row_becomes_an_item_keyed_by_its_position(store, clock, path):
    job = await new_job(store)
    report = await ingest(store, clock, job, path)
    assert (report.rows, report.inserted, report.known, report.bad) == (50, 50, 0, 0)
    assert await stored(store, job) == numbered(1, 50)
    after = await store.reads.job(job.id)
    assert (after.state, after.ingest_complete, after.columns) == (
        JobState.QUEUED,
        True,
        ("sku", "price"),
    )
    detail = await store.reads.item((await store.reads.export_rows(job.id, 0, 1))[0].id)
    assert (detail.input, detail.row.line, detail.row.summary) == (
        '{"sku":"A1","price":"1"}',
        2,
        "A1 · 1",
    )


async def test_an_empty_file_is_read_to_its_end(store, clock, path):
    path.write_text("")
    job = await new_job(store)
    assert (await ingest(store, clock, job, path)).rows == 0
    assert (await store.reads.job(job.id)).ingest_complete


@pytest.mark.parametrize("keys", [(), ("sku",)])
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("call", [1, 2, 7, 13])
async def test_a_kill_loses_no_row_and_repeats_none(store, clock, path, keys, moment, call):
    rows = path.read_text().splitlines()
    rows[20] = rows[3]  # a duplicate, if keys are the rows' own
    path.write_text("\n".join(rows))
    whole = await new_job(store, *keys)
    await ingest(store, clock, whole, path)
    job = await new_job(store, *keys)
    with pytest.raises(Killed):
        await ingest(Hooked(store, **{moment: killing(call)}), clock, job, path)
    await ingest(store, clock, job, path)
    assert await stored(store, job) == await stored(store, whole)
    assert (await store.reads.counts(job.id)) == (await store.reads.counts(whole.id))
    assert (await store.reads.counts(job.id)).total == 50


async def test_a_resumed_ingest_counts_only_what_it_read_itself(store, clock, path):
    job = await new_job(store)
    with pytest.raises(Killed):
        await ingest(Hooked(store, after=killing(5)), clock, job, path)
    report = await ingest(store, clock, job, path)
    assert (report.rows, report.inserted, report.known) == (30, 30, 0)


async def test_a_complete_ingest_is_left_alone(store, clock, path):
    job = await new_job(store)
    await ingest(store, clock, job, path)
    assert (await ingest(store, clock, job, path)).rows == 0


@pytest.mark.parametrize("keys", [(), ("sku",)])
async def test_two_commands_on_one_job_share_the_work(store, clock, path, keys):
    job = await new_job(store, *keys)
    reports = await asyncio.gather(*(ingest(store, clock, job, path) for _ in range(3)))
    assert len(await stored(store, job)) == 50
    assert sum(report.inserted for report in reports) == 50
    assert (await store.reads.job(job.id)).ingest_complete


async def test_keys_of_several_columns_cannot_be_confused(store, clock, path):
    path.write_text('a,b\nx,"y,z"\n"x,y",z\n')
    job = await new_job(store, "a", "b")
    await ingest(store, clock, job, path)
    assert await stored(store, job) == [('["x","y,z"]', "PENDING"), ('["x,y","z"]', "PENDING")]


async def test_a_key_column_must_be_there(store, clock, path):
    job = await new_job(store, "isbn")
    with pytest.raises(
        BadSource, match=r"the key column 'isbn' is missing\. The columns are: sku, price"
    ):
        await ingest(store, clock, job, path)
    assert (await store.reads.job(job.id)).state is JobState.FAILED


BAD = "sku,price\nA1,1\nA2\n,3\nA1,4\nA5,5\nA1,6\nA7,7\nA8,8\nA5,9\n"
REASONS = [
    BadRow(3, "1 value for 2 columns"),
    BadRow(4, "the key is empty (sku)"),
    BadRow(5, "duplicate key, first seen in line 2"),
    BadRow(7, "duplicate key, first seen in line 2"),
    BadRow(10, "duplicate key, first seen in line 6"),
]


async def test_bad_rows_become_errors_with_separate_keys(store, clock, path):
    path.write_text(BAD)
    job = await new_job(store, "sku")
    report = await ingest(store, clock, job, path)
    assert sorted(report.bad_rows, key=lambda bad: bad.line) == REASONS
    assert (report.rows, report.bad, report.inserted) == (9, 5, 9)
    assert dict(await stored(store, job)) == {
        "A1": "PENDING",
        "A2#3": "ERROR",
        "#4": "ERROR",
        "A1#5": "ERROR",
        "A5": "PENDING",
        "A1#7": "ERROR",
        "A7": "PENDING",
        "A8": "PENDING",
        "A5#10": "ERROR",
    }
    groups = await store.reads.error_groups(job.id)
    assert {group.error_class for group in groups} == {"bad_row"}
    assert sum(group.count for group in groups) == 5
    assert {group.reason for group in groups} <= {bad.reason for bad in REASONS}


async def test_bad_rows_keep_their_position_as_key(store, clock, path):
    path.write_text("a,b\n1,2\n3\n4,5\n")
    job = await new_job(store)
    await ingest(store, clock, job, path)
    assert await stored(store, job) == [("1", "PENDING"), ("2", "ERROR"), ("3", "PENDING")]


async def test_bad_rows_can_be_skipped(store, clock, path):
    path.write_text(BAD)
    job = await new_job(store, "sku")
    report = await ingest(store, clock, job, path, on_bad_row=OnBadRow.SKIP)
    assert (report.rows, report.bad, report.inserted) == (9, 5, 4)
    assert [key for key, _ in await stored(store, job)] == ["A1", "A5", "A7", "A8"]
    assert (await store.reads.job(job.id)).ingest["badRows"] == 5


async def test_the_job_reports_bad_rows_even_if_rows_have_no_key(store, clock, path):
    path.write_text(BAD)
    job = await new_job(store)
    report = await ingest(store, clock, job, path, on_bad_row=OnBadRow.SKIP)
    told = (await store.reads.job(job.id)).ingest
    assert (told["badRows"], told["sameRows"]) == (report.bad, 0)
    assert report.bad > 0


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (BAD, "line 3: 1 value for 2 columns"),
        ("sku\nA1\nA1\n", "line 3: duplicate key, first seen in line 2"),
    ],
)
async def test_bad_rows_can_fail_the_job(store, clock, path, content, reason):
    path.write_text(content)
    job = await new_job(store, "sku")
    with pytest.raises(BadSource, match=reason):
        await ingest(store, clock, job, path, on_bad_row=OnBadRow.FAIL)
    failed = await store.reads.job(job.id)
    assert (failed.state, failed.last_error) == (JobState.FAILED, reason)


async def test_a_second_reading_adds_new_keys_and_reports_changed_rows(store, clock, path):
    job = await new_job(store, "sku")
    await ingest(store, clock, job, path)
    lines = path.read_text().splitlines()
    lines[5] = "A5,changed"
    path.write_text("\n".join([lines[0], "B1,1", *lines[1:], "B2,2"]) + "\n")
    job = await store.jobs.reopen_ingest(job.id, "other")
    report = await ingest(store, clock, job, path)
    assert (report.rows, report.inserted, report.known, report.bad) == (52, 2, 50, 0)
    assert (report.changed, report.changed_lines) == (1, [7])
    assert len(await stored(store, job)) == 52


async def test_a_second_reading_that_is_killed_does_not_take_its_own_rows_for_duplicates(
    store, clock, path
):
    job = await new_job(store, "sku")
    await ingest(store, clock, job, path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], "B1,1", *lines[1:], lines[9]]) + "\n")
    job = await store.jobs.reopen_ingest(job.id, "other")
    with pytest.raises(Killed):
        await ingest(Hooked(store, after=killing(6)), clock, job, path)
    report = await ingest(store, clock, job, path)
    assert report.bad_rows == [BadRow(53, "duplicate key, first seen in line 11")]
    assert len(await stored(store, job)) == 52


async def test_gates_come_from_the_handler(store, clock, path):
    def gate_of(row):
        if row["sku"] == "A2":
            raise KeyError("host")
        return f"{row['sku'].lower()}.example"

    path.write_text("sku\nA1\nA2\n")
    spec = HandlerSpec("h", "h", print, is_async=False, gate_of=gate_of)
    job = await new_job(store)
    await ingest(store, clock, job, path, handler=spec)
    first, second = await store.reads.export_rows(job.id, 0, 10)
    assert (await store.reads.item(first.id)).row.gate == "a1.example"
    assert (second.status, second.error) == (ItemStatus.ERROR, "gate_of raised KeyError: 'host'")


async def test_a_job_with_one_provider_needs_no_gates_on_its_rows(store, clock, path):
    spec = HandlerSpec("h", "h", print, is_async=False, provider="wikidata")
    job = await new_job(store)
    await ingest(store, clock, job, path, handler=spec)
    first = (await store.reads.export_rows(job.id, 0, 1))[0]
    assert (await store.reads.item(first.id)).row.gate == ""


async def test_a_row_without_a_gate_is_stored_with_a_dash(store, clock, path):
    spec = HandlerSpec("h", "h", print, is_async=False, gate_of=lambda _: "")
    job = await new_job(store)
    await ingest(store, clock, job, path, handler=spec)
    first = (await store.reads.export_rows(job.id, 0, 1))[0]
    assert (await store.reads.item(first.id)).row.gate == "-"


async def test_a_paused_job_waits_and_continues(store, clock, path):
    job = await new_job(store)

    async def pause(call: int) -> None:
        if call == 3:
            await store.jobs.move_job(job.id, JobMove.PAUSE)
            await clock.advance(1)

    task = asyncio.create_task(ingest(Hooked(store, after=pause), clock, job, path))
    await clock.until_asleep()
    assert len(await stored(store, job)) == 12
    await clock.advance(5)
    await clock.until_asleep()
    assert len(await stored(store, job)) == 12
    await store.jobs.move_job(job.id, JobMove.RESUME_INGEST)
    await clock.advance(1)
    assert (await task).rows == 50
    assert (await store.reads.job(job.id)).state is JobState.QUEUED


async def test_a_reading_may_end_at_a_pause_and_continue_later(store, clock, path):
    """In a server, a job that is paused must not hold a slot for reading."""
    job = await new_job(store)

    async def pause(call: int) -> None:
        if call == 3:
            await store.jobs.move_job(job.id, JobMove.PAUSE)
            await clock.advance(1)

    report = await ingest(Hooked(store, after=pause), clock, job, path, leave_if_paused=True)
    assert report.stopped == "the job is paused"
    assert len(await stored(store, job)) == 12
    await store.jobs.move_job(job.id, JobMove.RESUME_INGEST)
    await ingest(store, clock, job, path, leave_if_paused=True)
    assert len(await stored(store, job)) == 50


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_cancelled_job_takes_no_more_rows(store, clock, path, moment):
    job = await new_job(store)

    async def cancel(call: int) -> None:
        if call == 3:
            await store.jobs.move_job(job.id, JobMove.CANCEL)

    report = await ingest(Hooked(store, **{moment: cancel}), clock, job, path)
    assert report.stopped == "the job is CANCELLED"
    assert not (await store.reads.job(job.id)).ingest_complete
    assert len(await stored(store, job)) == (8 if moment == "before" else 12)


async def test_a_deleted_job_stops_the_reading(store, clock, path):
    job = await new_job(store)

    async def delete(call: int) -> None:
        if call == 3:
            await store.jobs.move_job(job.id, JobMove.CANCEL)
            while await store.jobs.delete_job(job.id):
                pass

    report = await ingest(Hooked(store, before=delete), clock, job, path)
    assert report.stopped == "the job was deleted"


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("keys", [(), ("sku",)])
async def test_an_unreachable_store_is_tried_again_in_smaller_batches(
    store, clock, path, moment, keys
):
    job = await new_job(store, *keys)

    def fail(call: int) -> None:
        if call in {4, 5}:
            raise StoreUnreachable

    hooked = Hooked(store, **{moment: fail})
    service = Ingest(hooked, clock, IngestPolicy(min_rows=2, max_rows=16), Random(1))
    task = asyncio.create_task(service.run(IngestPlan(job.id, open_source(path))))
    for _ in range(2):
        await clock.until_asleep()
        await clock.advance(Ingest.LONGEST_WAIT_S)
    report = await task
    assert report.bad == 0
    assert len(await stored(store, job)) == 50
    assert hooked.sizes[:6] == [2, 2, 4, 8, 4, 2]


async def test_reading_ends_if_the_store_stays_unreachable(store, clock, path):
    def fail(_: int) -> None:
        raise StoreUnreachable

    job = await new_job(store)
    task = asyncio.create_task(ingest(Hooked(store, before=fail), clock, job, path))
    while not task.done():
        waiting = asyncio.create_task(clock.until_asleep())
        await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        await clock.advance(Ingest.LONGEST_WAIT_S)
    with pytest.raises(StoreUnreachable):
        await task
    assert clock.monotonic() > Ingest.PATIENCE_S


async def test_a_full_disk_is_not_a_reason_to_wait(store, clock, path):
    def fail(_: int) -> None:
        raise StoreFull

    job = await new_job(store)
    with pytest.raises(StoreFull):
        await ingest(Hooked(store, before=fail), clock, job, path)
    assert (await store.reads.job(job.id)).state is JobState.INGESTING


async def test_batches_double_up_to_their_bound(store, clock, path):
    hooked = Hooked(store)
    job = await new_job(store)
    service = Ingest(hooked, clock, IngestPolicy(min_rows=2, max_rows=16))
    await service.run(IngestPlan(job.id, open_source(path)))
    assert hooked.sizes == [2, 2, 4, 8, 16, 16, 2]


async def test_progress_is_reported_after_every_commit(store, clock, path):
    seen: list[int] = []
    job = await new_job(store)
    await ingest(store, clock, job, path, on_progress=lambda report: seen.append(report.inserted))
    assert seen[0] == 4
    assert seen[-1] == 50


async def test_columns_of_json_lines_survive_a_kill(store, clock, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f'{{"k{n % 7}":{n}}}\n' for n in range(20)))
    job = await new_job(store)
    with pytest.raises(Killed):
        await ingest(Hooked(store, after=killing(3)), clock, job, path)
    await ingest(store, clock, job, path)
    assert (await store.reads.job(job.id)).columns == tuple(f"k{n}" for n in range(7))


ASKING = HandlerSpec(
    "h", "h", call=lambda item, ctx: None, is_async=False, key_of=lambda row: row["sku"].lower()
)


async def test_rows_with_the_same_request_run_once(store, clock, path):
    path.write_text("sku\nA1\nB1\na1\nC1\nD1\nE1\nb1\nA1\n")
    job = await new_job(store)
    report = await ingest(store, clock, job, path, handler=ASKING, on_bad_row=OnBadRow.FAIL)
    assert (report.rows, report.inserted, report.same, report.bad) == (8, 8, 3, 0)
    assert dict(await stored(store, job)) == {
        "a1": "PENDING",
        "b1": "PENDING",
        "c1": "PENDING",
        "d1": "PENDING",
        "e1": "PENDING",
        "a1#4": "SKIPPED",
        "b1#8": "SKIPPED",
        "a1#9": "SKIPPED",
    }
    rows = {row.key: row for row in await store.reads.export_rows(job.id, 0, 100)}
    assert (rows["b1#8"].error, rows["b1#8"].input) == ("the same as line 3", '{"sku":"b1"}')
    assert await store.reads.error_groups(job.id) == []
    counts = await store.reads.counts(job.id)
    assert (counts.pending, counts.skipped, counts.error) == (5, 3, 0)


async def test_a_second_reading_finds_rows_by_their_request(store, clock, path):
    path.write_text("sku\nA1\nA1\nB1\n")
    job = await new_job(store)
    await ingest(store, clock, job, path, handler=ASKING)
    path.write_text("sku\nC1\na1\na1\nB1\n")
    job = await store.jobs.reopen_ingest(job.id, "other")
    report = await ingest(store, clock, job, path, handler=ASKING)
    assert (report.inserted, report.known, report.same) == (2, 2, 1)
    assert {key for key, _ in await stored(store, job)} == {"a1", "b1", "c1", "a1#4"}


async def test_a_row_without_an_identifier_is_bad_when_it_is_read(store, clock, path):
    def key_of(row):
        if row["sku"] == "odd":
            raise AttemptOver(Fault(FaultClass.PERMANENT, "'odd' names nothing"))
        return str(1 // int(row["sku"]))

    path.write_text("sku\n1\nodd\n0\n")
    job = await new_job(store)
    handler = HandlerSpec("h", "h", call=print, is_async=False, key_of=key_of)
    report = await ingest(store, clock, job, path, handler=handler)
    assert [str(bad) for bad in report.bad_rows] == [
        "line 3: 'odd' names nothing",
        "line 4: key_of raised ZeroDivisionError: integer division or modulo by zero",
    ]
    assert await stored(store, job) == [("1", "PENDING"), ("#3", "ERROR"), ("#4", "ERROR")]


async def test_key_columns_come_before_the_identifier_of_the_handler(store, clock, path):
    path.write_text("sku\nA1\na1\n")
    job = await new_job(store, "sku")
    report = await ingest(store, clock, job, path, handler=ASKING)
    assert (report.same, report.bad) == (0, 0)
    assert [key for key, _ in await stored(store, job)] == ["A1", "a1"]


@pytest.mark.parametrize("rows", [1, 40])
async def test_the_bytes_that_were_read_end_at_the_size_of_the_file(store, clock, path, rows):
    path.write_text("a,b\n" + "".join(f"{n},{n}\n" for n in range(rows)))
    job = await new_job(store)
    await ingest(store, clock, job, path, file_bytes=bytes_in(path))
    told = (await store.reads.job(job.id)).ingest
    assert told["bytes"] == told["fileBytes"] == path.stat().st_size
    assert told["at"] == clock.now()


async def test_a_reading_that_another_command_began_continues_counting_its_bytes(
    store, clock, path
):
    path.write_text("a,b\n" + "".join(f"{n},{n}\n" for n in range(60)))
    job = await new_job(store)
    with pytest.raises(Killed):
        await ingest(Hooked(store, after=killing(3)), clock, job, path)
    await ingest(store, clock, job, path)
    assert (await store.reads.job(job.id)).ingest["bytes"] == path.stat().st_size
