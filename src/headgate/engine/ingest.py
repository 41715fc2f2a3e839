"""Reads the rows of a source into the items of a job: in batches, each once, resumable."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any, NamedTuple

import msgspec

from headgate.core.errors import (
    BadSource,
    CapReached,
    StaleIngest,
    StoreUnreachable,
    UnknownJob,
    UsageError,
)
from headgate.core.item import NewItem
from headgate.core.job import Job
from headgate.core.sizing import IngestPolicy, IngestSizer
from headgate.core.status import UNFINISHED, JobMove, JobState
from headgate.engine.rows import BadRow, ItemMaker, MadeItems, OnBadRow
from headgate.engine.threads import in_thread, wait_ended
from headgate.ports.clock import Clock
from headgate.ports.handler import HandlerSpec
from headgate.ports.items import EnqueueReport, EnqueueRequest, ItemStore
from headgate.ports.source import BatchReader, RowBatch, Source
from headgate.ports.store import Store

EXAMPLES = 10
"""Line numbers that a report names."""


class IngestReport(msgspec.Struct):
    rows: int = 0
    """Read by this command, including bad rows."""
    inserted: int = 0
    known: int = 0
    """Rows whose key the job already had."""
    changed: int = 0
    """Known rows whose values differ from the stored item. The stored values are kept."""
    changed_lines: list[int] = []
    same: int = 0
    """Rows whose key an earlier row of the source has; they are skipped."""
    dropped: int = 0
    """Bad rows of an earlier reading that this reading did not find: corrected or removed."""
    bad: int = 0
    bad_rows: list[BadRow] = []
    """The first few."""
    notes: Sequence[str] = ()
    """Notes of the source about how it was read."""
    seconds: float = 0.0
    stopped: str | None = None
    """The reason that the source was not read to its end: the job was cancelled, deleted, …"""


class IngestPlan(msgspec.Struct, frozen=True):
    job_id: int
    source: Source
    handler: HandlerSpec | None = None
    """Names the gate of each row."""
    on_bad_row: OnBadRow = OnBadRow.ITEM_ERROR
    on_progress: Callable[[IngestReport], None] | None = None
    """Called after every commit."""
    open_items_cap: int | None = None
    """CapReached ends the reading if the owner would have more open items than this."""
    leave_if_paused: bool = False
    """End the reading when the job is paused, rather than wait until it is resumed."""
    file_bytes: int = 0
    """The size of the file, if its rows show how much of it was read; 0 if unknown."""


class _Taken(NamedTuple):
    """A batch that was read ahead, prepared as far as that needs no database."""

    batch: RowBatch
    made: MadeItems
    packed: Any


class _Stopped(Exception):
    """The job takes no more rows."""


class Ingest:
    """Reads sources into a store.

    A stored position says that every row before it is stored. Rows and position commit together, so
    a kill at any moment loses nothing. A command that finds the position moved by another command
    goes on from there.
    """

    CHECK_S = 0.5
    """Seconds between checks of the job for a pause or a cancellation."""
    FIRST_WAIT_S = 0.2
    LONGEST_WAIT_S = 10.0
    PATIENCE_S = 60.0
    """Seconds that a store may be unreachable before the reading fails."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        policy: IngestPolicy | None = None,
        rng: Random | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._policy = policy or IngestPolicy()
        self._rng = rng or Random()  # noqa: S311 (jitter)

    async def run(self, plan: IngestPlan) -> IngestReport:
        """Read the source to its end; BadSource makes the job FAILED and is raised."""
        began_s = self._clock.monotonic()
        reading = _Reading(plan, self._store.items, IngestSizer(self._policy), began_s)
        try:
            await self._read_patiently(reading)
        except _Stopped as stop:
            reading.report.stopped = str(stop)
        except BadSource as error:
            with suppress(UsageError):  # it may have ended in the meantime
                await self._store.jobs.move_job(plan.job_id, JobMove.FAIL, str(error))
            raise
        finally:
            reading.report.seconds = self._clock.monotonic() - began_s
        return reading.report

    async def _read_patiently(self, reading: "_Reading") -> None:
        failures = 0
        failing_since_s = self._clock.monotonic()
        while True:
            committed = reading.commits
            try:
                await self._read(reading)
            except StaleIngest:
                continue
            except StoreUnreachable:
                now_s = self._clock.monotonic()
                if reading.commits > committed or failures == 0:
                    failures, failing_since_s = 0, now_s
                if now_s - failing_since_s > self.PATIENCE_S:
                    raise
                failures += 1
                reading.sizer.failed()
                longest = min(self.FIRST_WAIT_S * 2.0**failures, self.LONGEST_WAIT_S)
                await self._clock.sleep(self._rng.uniform(0.0, longest))
            else:
                return

    async def _read(self, reading: "_Reading") -> None:
        """Read from the stored position to the end of the source."""
        job = await self._accepting_job(reading)
        if job.ingest_complete:
            return
        reader = await in_thread(partial(reading.plan.source.open, job.ingest_position))
        reading.begin(job, reader)
        ahead = reading.read_ahead()
        try:
            while True:
                taken = await asyncio.shield(ahead)  # a thread cannot be cancelled
                if not taken.batch.values:
                    break
                ahead = reading.read_ahead()
                await self._check_job(reading)
                await self._commit(reading, taken)
            await self._finish(reading, taken.batch)
        finally:
            await wait_ended(ahead)
            reader.close()

    async def _check_job(self, reading: "_Reading") -> None:
        if self._clock.monotonic() - reading.checked_s >= self.CHECK_S:
            await self._accepting_job(reading)

    async def _accepting_job(self, reading: "_Reading") -> Job:
        """Return the job once it takes rows; waits while it is paused."""
        while True:
            try:
                job = await self._store.reads.job(reading.plan.job_id)
            except UnknownJob as error:
                raise _Stopped("the job was deleted") from error
            if not job.ingest_complete and job.state not in UNFINISHED:
                raise _Stopped(f"the job is {job.state}")
            if job.ingest_complete or job.state is not JobState.PAUSED:
                reading.checked_s = self._clock.monotonic()
                return job
            if reading.plan.leave_if_paused:
                raise _Stopped("the job is paused")
            await self._clock.sleep(self.CHECK_S)

    async def _commit(self, reading: "_Reading", taken: _Taken) -> None:
        batch, made, packed = taken
        items = made.items
        reading.count_bad(made)
        reading.count_bytes(batch)
        report = await self._enqueue(reading, items, batch.position, packed)
        while report.held:
            # Only the store knows which keys came before. Duplicates are stored as duplicates, at
            # their place in the input.
            items = reading.with_duplicates(items, report)
            report = await self._enqueue(reading, items, batch.position)
        reading.count(batch, report)
        if reading.eager:
            await self._store.notifier.ring()

    async def _finish(self, reading: "_Reading", batch: RowBatch) -> None:
        if reading.stored_position != batch.position:
            await self._enqueue(reading, (), batch.position)
        await self._accepting_job(reading)
        if reading.again:
            while dropped := await self._store.jobs.drop_unseen(reading.plan.job_id):
                reading.report.dropped += dropped
        columns = reading.reader.columns
        await self._store.jobs.complete_ingest(reading.plan.job_id, columns)
        await self._store.notifier.ring()

    async def _enqueue(
        self, reading: "_Reading", items: Sequence[NewItem], position: str, packed: Any = None
    ) -> EnqueueReport:
        began_s = self._clock.monotonic()
        request = EnqueueRequest(
            reading.plan.job_id,
            items,
            position,
            reading.stored_position,
            reading.progress(began_s, len(items), self._clock.now()),
            reading.plan.open_items_cap,
            packed,
            hold_duplicates=reading.keyed,
        )
        try:
            report = await self._store.items.enqueue_many(request)
        except CapReached:
            raise
        except UsageError as error:
            # The job was ended or deleted just now, or another command has read it to the end.
            if (await self._accepting_job(reading)).ingest_complete:
                raise StaleIngest from error
            raise
        reading.sizer.committed((self._clock.monotonic() - began_s) * 1_000.0, waited=report.waited)
        if report.held:
            return report
        reading.commits += 1
        reading.stored_position = position
        reading.report.inserted += report.inserted
        if reading.plan.on_progress:
            reading.plan.on_progress(reading.report)
        return report


class _Reading:
    """The progress of one command in its source."""

    def __init__(
        self, plan: IngestPlan, items: ItemStore, sizer: IngestSizer, began_s: float
    ) -> None:
        self.plan = plan
        self._items = items
        self._began_s = began_s
        self._bytes = 0
        self._counted_row = 0
        self.sizer = sizer
        self.report = IngestReport()
        self.commits = 0
        self.checked_s = float("-inf")
        self._counted_line = self._counted_bad = self._counted_duplicate = 0
        self.reader: BatchReader
        self.maker: ItemMaker

    def begin(self, job: Job, reader: BatchReader) -> None:
        self.reader = reader
        self.report.notes = reader.notes
        self.maker = ItemMaker(job.key_columns, self.plan.handler, self.plan.on_bad_row)
        self.keyed = self.maker.keyed
        self.eager = job.eager
        self.again = job.ingest_run > 1
        """The source was read before, to its end or not."""
        self.stored_position = job.ingest_position
        if job.ingest_position and not self.commits:  # another command began the reading
            self._bytes = int(job.ingest.get("bytes", 0))
        self._unseen = job.key_columns if not job.ingest_position else ()

    def read_ahead(self) -> "asyncio.Task[_Taken]":
        """Parse and pack the next batch in a thread, while the one before is being stored."""
        rows, max_bytes = self.sizer.rows, self.sizer.max_bytes
        return asyncio.create_task(asyncio.to_thread(self._take, rows, max_bytes))

    def _take(self, rows: int, max_bytes: int) -> _Taken:
        batch = self.reader.take(rows, max_bytes)
        missing = [name for name in self._unseen if name not in self.reader.columns]
        if missing and batch.values:
            columns = ", ".join(self.reader.columns)
            raise BadSource(f"the key column {missing[0]!r} is missing. The columns are: {columns}")
        self._unseen = ()
        made = self.maker.make(batch)
        return _Taken(batch, made, self._items.pack(made.items))

    def progress(self, now_s: float, rows: int, now_us: int) -> dict[str, Any]:
        """The progress that the job shows from this commit on; `at` is UTC microseconds."""
        size = {"fileBytes": self.plan.file_bytes} if self.plan.file_bytes else {}
        return {
            "at": now_us,
            "rows": self.report.rows + rows,
            "bytes": self._bytes,
            **size,
            "badRows": self.report.bad,
            "sameRows": self.report.same,
            "batchRows": rows,
            "ingestMs": round((now_s - self._began_s) * 1_000.0, 1),
            "latencyEwmaMs": round(self.sizer.latency_ms, 2),
        }

    def count_bytes(self, batch: RowBatch) -> None:
        """Add a batch before its commit, so that the commit itself stores the figure."""
        if batch.first_row > self._counted_row:  # after a fault a batch may be read again
            self._counted_row = batch.first_row
            self._bytes += batch.size

    def count_bad(self, made: MadeItems) -> None:
        """Add bad rows before their commit, so that the commit itself stores the figure."""
        for bad in made.bad:
            if bad.line > self._counted_bad:
                self._counted_bad = bad.line
                self._count_bad(bad)

    def count(self, batch: RowBatch, stored: EnqueueReport) -> None:
        """Add a committed batch to the report; lines that were counted before are skipped."""
        report, counted = self.report, self._counted_line
        again = batch.lines[0] <= counted
        report.rows += sum(line > counted for line in batch.lines) if again else len(batch.lines)
        for row in stored.known:
            if row.line > counted and not row.duplicate:
                report.known += 1
                if row.changed:
                    report.changed += 1
                    if len(report.changed_lines) < EXAMPLES:
                        report.changed_lines.append(row.line)
        self._counted_line = max(counted, batch.lines[-1])

    def with_duplicates(self, items: Sequence[NewItem], stored: EnqueueReport) -> list[NewItem]:
        """The rows, with each duplicate replaced by a bad row or a skipped row."""
        duplicates = {row.line: row.first_line for row in stored.known if row.duplicate}
        found: list[NewItem] = []
        for item in items:
            if item.line not in duplicates:
                found.append(item)
                continue
            kept, bad = self.maker.duplicate(item, duplicates[item.line])
            found += [kept] if kept else []
            if item.line > self._counted_duplicate:
                self._counted_duplicate = item.line
                self._count_duplicate(bad)
        return found

    def _count_duplicate(self, bad: BadRow | None) -> None:
        if bad is None:
            self.report.same += 1
        else:
            self._count_bad(bad)

    def _count_bad(self, bad: BadRow) -> None:
        self.report.bad += 1
        if len(self.report.bad_rows) < EXAMPLES:
            self.report.bad_rows.append(bad)
