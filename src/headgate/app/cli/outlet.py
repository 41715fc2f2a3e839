"""What a run leaves behind when it ends."""

from pathlib import Path
from typing import Protocol

from headgate.engine.export import Export
from headgate.ports.clock import Clock
from headgate.ports.reads import ReadStore
from headgate.ports.source import RowWriter


class Outlet(Protocol):
    """Where the results of a job go."""

    @property
    def name(self) -> str:
        """What is written."""
        ...

    @property
    def early(self) -> bool:
        """Whether it is written also when the run was stopped before its end."""
        ...

    async def write(self, job_id: int) -> str:
        """Write all of it; how much that was, in words."""
        ...


class ExportFile:
    """Every row with its result, once all of them are finished."""

    early = False

    def __init__(self, reads: ReadStore, clock: Clock, writer: RowWriter, file: Path) -> None:
        self._export = Export(reads, clock)
        self._writer = writer
        self.name = str(file)

    async def write(self, job_id: int) -> str:
        """Write the rows."""
        report = await self._export.run(job_id, self._writer)
        return f"{report.rows:,} rows"
