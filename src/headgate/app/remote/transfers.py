"""Exports of a server's rows to local files, and rows sent to its queues."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from headgate.app.remote.values import job_of, with_counts_of
from headgate.app.service import JobWithCounts, QueueWrite, QueueWritten
from headgate.client import Client, Export, Rows
from headgate.client.queues import Queues
from headgate.core.errors import UsageError
from headgate.core.job import Job
from headgate.engine.export import ExportReport
from headgate.engine.export_check import ExportCheck, ExportCheckReport
from headgate.engine.queues import SHOWN_PROBLEMS, QueueRow, QueueWriteReport
from headgate.transfer.formats.equality import open_written
from headgate.transfer.places.target import target_of
from headgate.transfer.sources import WriteOptions, written_format_of

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class RemoteExports:
    """Implements ExportVerbs: the server writes the file, and we download it."""

    def __init__(self, client: Client) -> None:
        self._exports = client.exports

    async def write(self, job_id: int, out: Path, options: WriteOptions) -> ExportReport:
        name = written_format_of(out, options.format)
        if options.delimiter or options.encoding:
            raise UsageError(
                "a server writes CSV with commas, in UTF-8: leave out --out-delimiter and"
                " --out-encoding"
            )
        target = target_of(out)
        try:
            await asyncio.to_thread(target.open)
            requested = await self._exports.ask(str(job_id), name, options.formulas)
            export = await self._exports.wait(requested)
            async for piece in self._exports.pieces(export):
                await asyncio.to_thread(target.write, piece)
            await asyncio.to_thread(target.commit, export.report or {})
        finally:
            target.abandon()
        return report_of(export)

    async def check(self, job_id: int, file: Path, stated: str | None) -> ExportCheckReport:
        """Compare a file with the stored rows, which the server exports for it."""
        parts, form = open_written(file, stated)
        requested = await self._exports.ask(str(job_id), "jsonl")
        export = await self._exports.wait(requested)
        with tempfile.TemporaryDirectory(prefix="headgate-") as folder:
            rows = await self._exports.download(export, Path(folder) / "rows.jsonl")
            columns = report_of(export).columns
            return await ExportCheck.compare(job_id, columns, _pages(rows), parts, form)


def report_of(export: Export) -> ExportReport:
    return msgspec.convert(export.report or {}, ExportReport)


async def _pages(file: Path) -> AsyncIterator[Sequence[Mapping[str, Any]]]:
    with await asyncio.to_thread(file.open, "rb") as lines:
        while batch := await asyncio.to_thread(_some, lines):
            yield batch


def _some(lines: Any) -> list[Mapping[str, Any]]:
    return [_decode(line) for line, _ in zip(lines, range(ExportCheck.PAGE), strict=False)]


MOST_ROWS = 1_000
MOST_BYTES = 4 * 1024 * 1024


class RemoteQueues:
    """Implements QueueVerbs."""

    def __init__(self, client: Client) -> None:
        self._queues = client.queues

    async def ls(self) -> list[JobWithCounts]:
        return [with_counts_of(job) for job in await self._queues.ls()]

    async def get(self, name: str) -> JobWithCounts:
        return with_counts_of(await self._queues.get(name))

    async def feed(
        self, queue_write: QueueWrite, rows: AsyncIterator[QueueRow | None]
    ) -> QueueWritten:
        sending = _Sending(self._queues, queue_write)
        async for row in rows:
            if row is None:
                await sending.flush()
            else:
                await sending.add(row)
        # Also without rows: the queue is created, or reported as missing.
        await sending.flush(empty=sending.job_id is None)
        return QueueWritten(sending.job_id or 0, sending.report)

    async def close(self, name: str) -> Job:
        return job_of(await self._queues.close(name))


class _Sending:
    """Sends rows in batches."""

    def __init__(self, queues: Queues, queue_write: QueueWrite) -> None:
        self._queues = queues
        self._queue_write = queue_write
        self._rows: list[QueueRow] = []
        self._texts: list[bytes] = []
        self._bytes = 0
        self.job_id: int | None = None
        self.report = QueueWriteReport()

    async def add(self, row: QueueRow) -> None:
        text = msgspec.json.encode(row.values)
        self._rows.append(row)
        self._texts.append(text)
        self._bytes += len(text)
        if len(self._rows) >= MOST_ROWS or self._bytes >= MOST_BYTES:
            await self.flush()

    async def flush(self, *, empty: bool = False) -> None:
        if not self._rows and not empty:
            return
        rows, texts = self._rows, self._texts
        self._rows, self._texts, self._bytes = [], [], 0
        fed = await self._queues.feed(
            self._queue_write.queue,
            Rows(
                items=[msgspec.Raw(text) for text in texts],
                handler=self._queue_write.handler,
                key=self._queue_write.key,
                lines=[row.line for row in rows],
                problems=[row.problem for row in rows],
            ),
        )
        self.job_id = int(fed.job_id)
        report = self.report
        report.added += fed.added
        report.known += fed.known
        report.bad += fed.bad
        report.problems = [*report.problems, *fed.problems][:SHOWN_PROBLEMS]
