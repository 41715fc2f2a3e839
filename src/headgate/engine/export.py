"""Exports the rows of a job with input, result and status, in input order, and a hash of them."""

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import msgspec

from headgate.core.job import Job
from headgate.core.redact_values import without_secrets
from headgate.core.status import OPEN, ItemStatus
from headgate.core.time_text import stamp
from headgate.engine.threads import in_thread
from headgate.ports.clock import Clock
from headgate.ports.reads import ExportRow, ReadStore
from headgate.ports.source import RowWriter

STATUS = "_status"
ERROR = "_error"
TAKEN_PREFIX = "result_"
"""Input columns keep their names; a result or status column whose name is taken gets this prefix.
"""

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_encoder = msgspec.json.Encoder()


OnProgress = Callable[[int], Awaitable[None]]


class Cutoff(msgspec.Struct, frozen=True):
    """The progress of a job that was exported before its end.

    Each row shows its item at some moment between the two times.
    """

    began_at: str
    ended_at: str
    last_item_id: int
    open_items: int


class ExportReport(msgspec.Struct, frozen=True):
    """The contents of an export, stored beside the file as its record."""

    job_id: int
    handler: str
    source: str
    fingerprint: str
    columns: tuple[str, ...]
    rows: int
    sha256: str
    """Over one line for each row: the JSON array of its values in column order, null for none."""
    statuses: Mapping[str, int]
    exported_at: str
    cutoff: Cutoff | None = None
    """None if the job had no open item: the export is final."""
    notes: tuple[str, ...] = ()
    """Differences between the file and the store, such as formulas made harmless."""


class Columns:
    def __init__(self, inputs: Sequence[str], results: Sequence[str]) -> None:
        taken = set(inputs)
        self.result_names = {name: _free_name(name, taken) for name in results}
        self.status = _free_name(STATUS, taken)
        self.error = _free_name(ERROR, taken)
        self.all = (*inputs, *self.result_names.values(), self.status, self.error)
        self._plain = all(name == shown for name, shown in self.result_names.items())

    def row(self, row: ExportRow) -> dict[str, Any]:
        values = _decode(row.input)
        if row.result is not None and row.status is ItemStatus.DONE:
            result = _decode(row.result)
            names = self.result_names
            if self._plain and result.keys() <= names.keys():
                values |= result
            else:  # a name that is new since the export began is left out
                values |= {names[name]: result[name] for name in result if name in names}
        values[self.status] = row.status
        values[self.error] = _why(row)
        return values


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"{TAKEN_PREFIX}{name}"
    taken.add(name)
    return name


def _why(row: ExportRow) -> str | None:
    if row.status is ItemStatus.ERROR:
        return f"{row.error_class}: {row.error}"
    return None if row.status is ItemStatus.DONE or row.status in OPEN else row.error


class Export:
    PAGE = 2_000

    def __init__(self, reads: ReadStore, clock: Clock, only: Collection[int] | None = None) -> None:
        """With `only`, export only the rows with these ids."""
        self._reads = reads
        self._clock = clock
        self._only = None if only is None else frozenset(only)

    async def run(
        self, job_id: int, writer: RowWriter, on_progress: OnProgress | None = None
    ) -> ExportReport:
        """Write all rows of a job; the file appears only when it is complete.

        `on_progress` gets the number of rows written after each page; it may raise to end the
        export.
        """
        job = await self._reads.job(job_id)
        results = await self._reads.result_columns(job_id)
        columns = Columns(job.columns, results)
        tally = _Tally(columns, self._now())
        expected = (await self._reads.counts(job_id)).total
        try:
            await in_thread(lambda: writer.open(columns.all, expected))
            await self._copy(job_id, writer, tally, on_progress)
            report = await self._report(job, tally, writer.notes)
            await in_thread(lambda: writer.commit(msgspec.to_builtins(report)))
        except BaseException:
            writer.abandon()
            raise
        return report

    async def _copy(
        self, job_id: int, writer: RowWriter, tally: "_Tally", on_progress: OnProgress | None
    ) -> None:
        # Read and write take turns: both need the interpreter, and running in parallel they are
        # slower.
        after_id = 0
        while page := await self._reads.export_rows(job_id, after_id, self.PAGE):
            after_id = page[-1].id
            if self._only is not None:
                page = [row for row in page if row.id in self._only]
            if page:
                await in_thread(partial(tally.write, page, writer))
            if on_progress is not None:
                await on_progress(tally.rows)

    async def _report(self, job: Job, tally: "_Tally", notes: tuple[str, ...]) -> ExportReport:
        open_items = sum(tally.statuses[status] for status in OPEN)
        ended_at = self._now()
        unfinished = open_items > 0 or not job.ingest_complete
        return ExportReport(
            job_id=job.id,
            handler=job.handler,
            source=without_secrets(job.source),
            fingerprint=job.fingerprint,
            columns=tally.columns.all,
            rows=tally.rows,
            sha256=tally.digest.hexdigest(),
            statuses={status: tally.statuses[status] for status in ItemStatus},
            exported_at=ended_at,
            cutoff=Cutoff(tally.began_at, ended_at, tally.last_id, open_items)
            if unfinished
            else None,
            notes=notes,
        )

    def _now(self) -> str:
        return stamp(self._clock.now())


class _Tally:
    def __init__(self, columns: Columns, began_at: str) -> None:
        self.columns = columns
        self.began_at = began_at
        self.rows = 0
        self.last_id = 0
        self.statuses: Counter[str] = Counter()
        self.digest = hashlib.sha256()

    def write(self, page: Sequence[ExportRow], writer: RowWriter) -> None:
        rows = [self.columns.row(row) for row in page]
        lines = canonical(rows, self.columns.all)
        writer.write(rows, lines)
        self.digest.update(lines)
        self.statuses.update(row.status for row in page)
        self.rows += len(page)
        self.last_id = page[-1].id


def canonical(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> bytes:
    """The bytes that an export's hash is taken over."""
    take = itemgetter(*columns)
    try:
        values = [take(row) for row in rows]
    except KeyError:  # a row that lacks a column
        values = [tuple(map(row.get, columns)) for row in rows]
    return _encoder.encode_lines(values)
