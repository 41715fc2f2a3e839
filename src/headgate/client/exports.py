"""Exports: files that the server makes of a job's rows."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from headgate.client.errors import ApiError, ExportNotFound, JobNotFound
from headgate.client.transport import ApiRequest, ClientTimeouts, Transport, segment
from headgate.client.values import params
from headgate.schema.jobs import ExportView
from headgate.schema.values import Listed

PIECE = 1_048_576
UNDER_WAY = frozenset({"QUEUED", "RUNNING"})


class ExportsClient:
    def __init__(self, wire: Transport, timeouts: ClientTimeouts) -> None:
        self._wire = wire
        self._timeouts = timeouts

    async def ask(
        self, job_id: str, file_format: str = "xlsx", formulas: str = "neutral"
    ) -> ExportView:
        """Request a file of all rows: `xlsx`, `csv`, `tsv`, `jsonl` or `parquet`."""
        path = f"/api/jobs/{segment(job_id)}/export"
        query = params(format=file_format, formulas=formulas)
        ask = ApiRequest(method="POST", path=path, params=query, absent=JobNotFound)
        return await self._wire.value(ask, ExportView)

    async def ls(self, job_id: str) -> list[ExportView]:
        """The exports of a job, newest first."""
        path = f"/api/jobs/{segment(job_id)}/exports"
        return (
            await self._wire.value(ApiRequest(path=path, absent=JobNotFound), Listed[ExportView])
        ).items

    async def get(self, job_id: str, export_id: str) -> ExportView:
        ask = ApiRequest(path=_path(job_id, export_id), absent=ExportNotFound)
        return await self._wire.value(ask, ExportView)

    async def wait(self, export: ExportView) -> ExportView:
        """Wait until the export is done; ApiError if it failed."""
        polls = 0
        while export.state in UNDER_WAY:
            await self._wire.rest(self._timeouts.polls(polls))
            export = await self.get(export.job_id, export.id)
            polls += 1
        if export.state != "DONE":
            raise ApiError(200, f"the export failed: {export.error or export.state}")
        return export

    async def download(self, export: ExportView, target: str | Path) -> Path:
        """Download a finished export; the file appears only when it is complete."""
        target = Path(target)
        part = target.with_name(f".{target.name}.part")
        try:
            with await asyncio.to_thread(part.open, "wb") as file:
                async for piece in self.pieces(export):
                    await asyncio.to_thread(file.write, piece)
            await asyncio.to_thread(part.replace, target)
        finally:
            await asyncio.to_thread(part.unlink, missing_ok=True)
        return target

    async def pieces(self, export: ExportView) -> AsyncIterator[bytes]:
        """The bytes of a finished export; ApiError at the end if they are incomplete."""
        ask = ApiRequest(path=_path(export.job_id, export.id), absent=ExportNotFound)
        size = 0
        async with self._wire.reply(ask) as reply:
            headers = reply.headers
            received = (headers.get("X-Content-SHA256"), headers.get("X-Row-Count"))
            if received != (export.sha256, str(export.rows)):
                raise ApiError(reply.status, "the server sent another export; request it again")
            async for piece in reply.content.iter_chunked(PIECE):
                size += len(piece)
                yield piece
        if size != export.size:
            raise ApiError(200, f"{size:,} bytes came instead of {export.size:,}; fetch it again")


def _path(job_id: str, export_id: str) -> str:
    return f"/api/jobs/{segment(job_id)}/exports/{segment(export_id)}"
