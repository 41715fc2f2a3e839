"""A server's rows in files of this machine."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from headgate.client import Client, Export
from headgate.core.errors import UsageError
from headgate.engine.export import ExportReport
from headgate.engine.export_check import ExportCheck, ExportCheckReport
from headgate.transfer.formats.equality import open_written
from headgate.transfer.places.target import target_of
from headgate.transfer.sources import WriteOptions, written_format_of

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class RemoteExports:
    """Implements ExportVerbs: the server makes the file, and we fetch it."""

    def __init__(self, client: Client) -> None:
        self._exports = client.exports

    async def write(self, job_id: int, out: Path, options: WriteOptions) -> ExportReport:
        """Write all rows; the file appears when it is complete, with its record beside it."""
        name = written_format_of(out, options.format)
        if options.delimiter or options.encoding:
            raise UsageError(
                "a server writes CSV with commas, in UTF-8: leave out --out-delimiter and"
                " --out-encoding"
            )
        target = target_of(out)
        try:
            await asyncio.to_thread(target.open)
            asked = await self._exports.ask(str(job_id), name, options.formulas)
            export = await self._exports.wait(asked)
            async for piece in self._exports.pieces(export):
                await asyncio.to_thread(target.write, piece)
            await asyncio.to_thread(target.commit, export.report or {})
        finally:
            target.abandon()
        return report_of(export)

    async def check(self, job_id: int, file: Path, stated: str | None) -> ExportCheckReport:
        """Compare a file with the rows, which the server writes out for it."""
        parts, form = open_written(file, stated)
        asked = await self._exports.ask(str(job_id), "jsonl")
        export = await self._exports.wait(asked)
        with tempfile.TemporaryDirectory(prefix="headgate-") as folder:
            rows = await self._exports.download(export, Path(folder) / "rows.jsonl")
            columns = report_of(export).columns
            return await ExportCheck.compare(job_id, columns, _pages(rows), parts, form)


def report_of(export: Export) -> ExportReport:
    """The record of a finished export."""
    return msgspec.convert(export.report or {}, ExportReport)


async def _pages(file: Path) -> AsyncIterator[Sequence[Mapping[str, Any]]]:
    with await asyncio.to_thread(file.open, "rb") as lines:
        while batch := await asyncio.to_thread(_some, lines):
            yield batch


def _some(lines: Any) -> list[Mapping[str, Any]]:
    return [_decode(line) for line, _ in zip(lines, range(ExportCheck.PAGE), strict=False)]
