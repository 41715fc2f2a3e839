"""The result of a run: its exit code and its summary line."""

from enum import StrEnum

from headgate.app.cli.exit_codes import Exit
from headgate.core.job import Counts
from headgate.core.status import FINISHED, ITEM_DISPLAY, ItemStatus
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


def totals(counts: Counts) -> dict[str, int]:
    """The job's totals by status; they add up to `total`, with running items as `pending`."""
    finished = {status.lower(): counts.of(status) for status in ItemStatus if status in FINISHED}
    return {"total": counts.total, **finished, "pending": counts.open}


def summary_text(counts: Counts, *, finished: bool) -> str:
    """How a run ended and the totals of its rows, without zeros."""
    ends = [(counts.of(each), ITEM_DISPLAY[each]) for each in ItemStatus if each in FINISHED]
    parts = [(number, display.noun(number)) for number, display in ends]
    parts.append((counts.open, "left"))
    named = ", ".join(f"{number:,} {name}" for number, name in parts if number)
    rows = counted(counts.total, "row")
    if not named:
        return "finished: no rows" if finished else "stopped: no rows were read"
    if finished:
        return f"finished {rows}: {named}"
    return f"stopped at {counts.total - counts.open:,} of {rows}: {named}"


def combined_report(first: RunReport, second: RunReport) -> RunReport:
    """The sum of two reports of one command."""
    return RunReport(
        settled=first.settled + second.settled,
        drain_s=first.drain_s + second.drain_s,
        stalled=second.stalled,
        interrupted=second.interrupted,
        crashes=first.crashes + second.crashes,
        warnings=(*first.warnings, *second.warnings),
    )
