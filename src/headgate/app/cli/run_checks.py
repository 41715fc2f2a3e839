"""Checks of a run: before its first row, and while its rows finish."""

import asyncio
import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from headgate.app.ingest_options import command_encoding_message
from headgate.core.errors import UsageError, WrongEncoding
from headgate.core.failing import (
    FIRST_ROWS,
    RowFailure,
    all_alike,
    most_frequent,
    waiting_in_words,
)
from headgate.core.job import Counts
from headgate.core.status import ItemStatus
from headgate.core.trace import trace_in
from headgate.core.words import counted
from headgate.engine.error_count import ErrorCount
from headgate.ports.handler import HandlerSpec
from headgate.ports.jobs import FailingRow, RowReads
from headgate.ports.reads import ItemQuery, ReadStore
from headgate.ports.source import Source
from headgate.transfer import inspection
from headgate.transfer.limits import Limits
from headgate.transfer.sources import ReadOptions

SHOWN = 20


async def require_columns(spec: HandlerSpec, source: Source, file: Path) -> None:
    """UsageError if the handler needs a column that the first rows of the file do not have."""
    if not spec.needs:
        return
    columns = await asyncio.to_thread(_columns_of, source)
    for name in spec.needs:
        if columns and name not in columns:
            raise UsageError(
                f"{spec.name} needs a column {name!r}, which {file.name} does not have"
                f"{_instead(name, columns)}"
            )


async def wrong_encoding(
    file: Path, shown: str, options: ReadOptions, limits: Limits
) -> WrongEncoding | None:
    found = await asyncio.to_thread(inspection.misread_in, file, options, limits)
    return WrongEncoding(command_encoding_message(shown, found.fits), found.fits) if found else None


def _columns_of(source: Source) -> list[str]:
    """The columns in the header of a file and in its first rows."""
    reader = source.open()
    try:
        first = reader.take(inspection.FIRST_ROWS, inspection.FIRST_BYTES)
        names = [name for values in first.values for name in values]
        return list(dict.fromkeys([*reader.columns, *names]))
    finally:
        reader.close()


def _instead(name: str, columns: Sequence[str]) -> str:
    folded = {column.casefold(): column for column in columns}
    close = difflib.get_close_matches(name.casefold(), folded, 1)
    if close:
        return f"; did you mean {folded[close[0]]!r}?"
    more = ", …" if len(columns) > SHOWN else ""
    return f"; it has {', '.join(columns[:SHOWN])}{more}"


FAILURES_S = 1.0
"""Seconds between two checks of the failed rows."""
MOST_FAILURES = 1_000
"""Failed rows, and rows waiting for a retry, that one check reads at most."""


class FailingRows:
    def __init__(
        self,
        rows: RowReads,
        job_id: int,
        errors: ErrorCount | None = None,
        *,
        revisits: bool = False,
        noun: str = "row",
    ) -> None:
        """`errors` decides whether too many rows have failed.

        `revisits`: the command retries failed rows without `--retry-failed`. `noun`: what the
        items of the job are called.
        """
        self._noun = noun
        self._rows = rows
        self._revisits = revisits
        self._job_id = job_id
        self._errors = errors
        self._since_at = 0
        self._before = Counts()
        self._total = 0
        self.remark = ""
        """Text below the progress; empty if no row waits for a retry."""
        self.kind = ""
        """The common part of the failures in `remark`, without the values of the rows."""
        self.hint = ""
        """Advice for the case that the first rows all fail in the same way."""
        self.too_many = ""
        """Why the run stops; empty until `--max-errors` is reached."""
        self.raised = False
        """True if the handler's code raised the failure in `too_many` or `hint`."""

    async def begin(self, counts: Counts, total: int) -> None:
        """Remember the current counts; `total` is the number of rows to run."""
        self._since_at = await self._rows.newest_change(self._job_id)
        self._before = counts
        self._total = total

    async def check(self, counts: Counts) -> None:
        found = await self._rows.failing(self._job_id, self._since_at, MOST_FAILURES)
        failures = [_failure(row) for row in found]
        waiting = [failure for failure in failures if not failure.ended]
        self.remark = waiting_in_words(failures, self._noun, more=len(waiting) >= MOST_FAILURES)
        self.kind = most_frequent(waiting).kind if waiting else ""
        if not failures:
            return
        succeeded = _succeeded(counts) - _succeeded(self._before)
        alike = all_alike(failures, succeeded, self._total)
        self._explain_stop(counts, failures)
        if alike is not None and counts.open and not self.hint and not self.too_many:
            self.raised = bool(alike.where)
            self.hint = self._hint_in_words(alike, failures)

    def _hint_in_words(self, alike: RowFailure, failures: list[RowFailure]) -> str:
        ended = any(failure.ended for failure in failures) and not self._revisits
        again = "the same command with --retry-failed" if ended else "the same command"
        rows = counted(len(failures), self._noun)
        what = "fix the handler" if alike.where else "fix the cause"
        return (
            f"the first {rows} all failed in the same way: {alike.in_words(' at ', '')};"
            f" press Ctrl-C, {what}, and run {again}"
        )

    def _explain_stop(self, counts: Counts, failures: list[RowFailure]) -> None:
        errors = self._errors
        if errors is None or not errors.reached or not counts.open:  # nothing is left to stop
            return
        most = most_frequent(failures)
        self.raised = bool(most.where)
        failed, tried = errors.totals()
        self.too_many = (
            f"{counted(failed, 'row')} of {tried:,} failed, which reaches --max-errors"
            f" {errors.limit.text}: {most.in_words(' at ', '')}"
        )


def _succeeded(counts: Counts) -> int:
    return counts.finished - counts.error - counts.cancelled


def _failure(row: FailingRow) -> RowFailure:
    trace = trace_in(row.trace)
    where = trace.where if trace else ""
    return RowFailure(row.error_class, row.reason, where, row.status is ItemStatus.ERROR)


_decode = msgspec.json.Decoder(dict[str, Any]).decode


class EmptyColumns:
    def __init__(self, reads: ReadStore, job_id: int, paths: Mapping[str, str]) -> None:
        self._reads = reads
        self._job_id = job_id
        self._paths = paths
        self._done = not paths

    async def check(self, done: int, *, at_end: bool = False) -> list[str]:
        """Warnings, returned once; `at_end` checks even fewer results than `FIRST_ROWS`."""
        if self._done or not done or (done < FIRST_ROWS and not at_end):
            return []
        self._done = True
        query = ItemQuery(
            job_id=self._job_id,
            statuses=frozenset({ItemStatus.DONE}),
            with_result=True,
            limit=FIRST_ROWS,
        )
        page = await self._reads.items(query)
        results = [_decode(row.result) for row in page.items if row.result]
        return [
            f"the column {name!r} is empty in all of the first {counted(len(results), 'result')}:"
            f" does its path {self._paths[name]!r} match the reply?"
            for name in empty_in(results, list(self._paths))
        ]


def empty_in(results: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> list[str]:
    if not results:
        return []
    return [name for name in columns if all(result.get(name) is None for result in results)]
