"""What a run leaves behind when it ends."""

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
from headgate.transfer.places.target import STDOUT


class RunOutput(Protocol):
    """Where the results of a job go."""

    @property
    def name(self) -> str:
        """What is written."""
        ...

    @property
    def early(self) -> bool:
        """Whether it is written also when the run was stopped before its end."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What was written otherwise than it is stored."""
        ...

    async def write(self, job_id: int) -> str:
        """Write all of it; how much that was, in words."""
        ...


class ExportFile:
    """Every row with its result, once all that were to be run are finished."""

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
        """Write the rows that were to be run; UsageError says how to get them if that fails."""
        export = Export(self._reads, self._clock, self._trial.ids)
        try:
            report = await export.run(job_id, self._writer)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise UsageError(export_hint(job_id, self.name, error)) from error
        self.notes = report.notes
        return counted(report.rows, "row")
