"""A store's rows in files."""

from pathlib import Path

from headgate.app.outlet_check import demand_outlet
from headgate.engine.export import Export, ExportReport
from headgate.engine.export_check import ExportCheck, ExportCheckReport
from headgate.ports.clock import Clock
from headgate.ports.reads import ReadStore
from headgate.transfer.formats.equality import open_written
from headgate.transfer.sources import WriteOptions, open_writer


class LocalExports:
    """Implements ExportVerbs."""

    def __init__(self, reads: ReadStore, clock: Clock) -> None:
        self._reads = reads
        self._clock = clock

    async def write(self, job_id: int, out: Path, options: WriteOptions) -> ExportReport:
        """Write all rows; the file appears when it is complete, with its record beside it."""
        job = await self._reads.job(job_id)
        demand_outlet(out, [Path(job.source)], "FILE")
        return await Export(self._reads, self._clock).run(job_id, open_writer(out, options))

    async def check(self, job_id: int, file: Path, stated: str | None) -> ExportCheckReport:
        """Compare a file with the rows."""
        parts, form = open_written(file, stated)
        return await ExportCheck(self._reads).check(job_id, parts, form)
