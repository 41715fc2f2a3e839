"""The result of a run: its exit code and its summary line."""

from enum import StrEnum

from headgate.app.cli.exit_codes import Exit
from headgate.core.job import Counts
from headgate.core.words import counted
from headgate.engine.supervisor import RunReport


class FailOn(StrEnum):
    """Which outcomes make a finished run exit with 3."""

    ERROR = "error"
    NOT_FOUND = "not-found"
    NONE = "none"


def exit_code(counts: Counts, fail_on: FailOn, *, finished: bool) -> Exit:
    if not finished:
        return Exit.STOPPED
    failed = {
        FailOn.ERROR: counts.error,
        FailOn.NOT_FOUND: counts.error + counts.not_found,
        FailOn.NONE: 0,
    }[fail_on]
    return Exit.FAILED_ITEMS if failed else Exit.OK


def in_words(counts: Counts) -> str:
    """The totals of a job, without zeros."""
    parts = [
        (counts.done, "done"),
        (counts.not_found, "not found"),
        (counts.skipped, "skipped"),
        (counts.review, "to review"),
        (counts.error, "error" if counts.error == 1 else "errors"),
        (counts.cancelled, "cancelled"),
        (counts.open, "left"),
    ]
    named = ", ".join(f"{number:,} {name}" for number, name in parts if number)
    return f"{counted(counts.total, 'row')}: {named}" if named else "no rows"


def together(first: RunReport, second: RunReport) -> RunReport:
    """The sum of two reports of one command."""
    return RunReport(
        settled=first.settled + second.settled,
        drain_s=first.drain_s + second.drain_s,
        stalled=second.stalled,
        interrupted=second.interrupted,
        crashes=first.crashes + second.crashes,
        warnings=(*first.warnings, *second.warnings),
    )
