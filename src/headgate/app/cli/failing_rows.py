"""Watches the rows that fail during `headgate run`, and explains why `--max-errors` stopped it."""

from headgate.core.failing import (
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
from headgate.ports.jobs import FailingRow, RowReads

CHECK_S = 1.0
"""Seconds between two checks."""
MOST = 1_000
"""Failed rows, and rows waiting for a retry, that one check reads at most."""


class FailingRows:
    """The failures of one job since this command began."""

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
        found = await self._rows.failing(self._job_id, self._since_at, MOST)
        failures = [_failure(row) for row in found]
        waiting = [failure for failure in failures if not failure.ended]
        self.remark = waiting_in_words(failures, self._noun, more=len(waiting) >= MOST)
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
