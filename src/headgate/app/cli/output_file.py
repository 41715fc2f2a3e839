"""The files that a run writes when it ends."""

from pathlib import Path
from typing import Protocol

from headgate.app.cli.trial import Trial
from headgate.app.output_check import export_hint
from headgate.core.errors import UsageError
from headgate.core.words import counted
from headgate.engine.export import Export
from headgate.ports.clock import Clock
from headgate.ports.source import RowWriter
from headgate.ports.store import Store
from headgate.transfer.files import STDOUT


class RunOutput(Protocol):
    @property
    def name(self) -> str:
        """The name of the output, for messages."""
        ...

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
    """Writes every row with its result, once all chosen rows are finished."""

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
