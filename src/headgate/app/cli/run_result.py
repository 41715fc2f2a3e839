"""The result of a run: its output, its exit code and its summary line."""

from enum import StrEnum
from pathlib import Path
from typing import Protocol

from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.trial import Trial
from headgate.app.output_check import export_hint
from headgate.core.errors import UsageError
from headgate.core.job import Counts
from headgate.core.status import FINISHED, ITEM_DISPLAY, ItemStatus
from headgate.core.words import counted
from headgate.engine.export import Export
from headgate.engine.supervisor import RunReport
from headgate.ports.clock import Clock
from headgate.ports.source import RowWriter
from headgate.ports.store import Store
from headgate.transfer.files import STDOUT


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
    return RunReport(
        settled=first.settled + second.settled,
        drain_s=first.drain_s + second.drain_s,
        stalled=second.stalled,
        interrupted=second.interrupted,
        crashes=first.crashes + second.crashes,
        warnings=(*first.warnings, *second.warnings),
    )


class RunOutput(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def early(self) -> bool:
        """Whether it is written even if the run was stopped early."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings about values that were written differently from how they are stored."""
        ...

    async def write(self, job_id: int) -> str:
        """Write the output and return its size in words, such as `20 rows`."""
        ...


class ExportFile:
    early = False
    notes: tuple[str, ...] = ()

    def __init__(
        self, store: Store, clock: Clock, writer: RowWriter, file: Path, trial: Trial
    ) -> None:
        self._reads = store.reads
        self._clock = clock
        self._writer = writer
        self._trial = trial
        self.name = "standard output" if file == STDOUT else str(file)

    async def write(self, job_id: int) -> str:
        """Write the chosen rows. If that fails, UsageError names the export command."""
        export = Export(self._reads, self._clock, self._trial.ids)
        try:
            report = await export.run(job_id, self._writer)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise UsageError(export_hint(job_id, self.name, error)) from error
        self.notes = report.notes
        return counted(report.rows, "row")
