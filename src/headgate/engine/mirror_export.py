"""Exports the rows of a stream, in the order in which they were first seen, and a hash of them."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from headgate.core.time_text import stamp
from headgate.engine.export import canonical
from headgate.engine.threads import in_thread
from headgate.ports.clock import Clock
from headgate.ports.mirrors import Mirror, MirrorStore, RowQuery, StoredRow, Stream
from headgate.ports.source import RowWriter

DELETED_AT = "_deleted_at"
"""The column that says when a row was found deleted."""
PAGE = 2_000

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class StreamExport(msgspec.Struct, frozen=True):
    """The contents of an export, stored beside the file as its record."""

    mirror: str
    stream: str
    columns: tuple[str, ...]
    rows: int
    sha256: str
    """Over one line for each row: the JSON array of its values in column order, null for none."""
    exported_at: str
    notes: tuple[str, ...] = ()
    """Differences between the file and the store, such as formulas made harmless."""


class MirrorExport:
    """Writes streams of a mirror, also while a pass runs: each row as it is when it is read."""

    def __init__(self, mirrors: MirrorStore, clock: Clock, *, deleted: bool = False) -> None:
        """`deleted`: also deleted rows, with a column that says when they were found deleted."""
        self._mirrors = mirrors
        self._clock = clock
        self._deleted = deleted

    async def run(self, mirror: Mirror, stream: Stream, writer: RowWriter) -> StreamExport:
        """Write a stream; the file appears when it is complete."""
        names = [each.name for each in await self._mirrors.fields(stream.id)]
        columns = (*names, *([DELETED_AT] if self._deleted else []))
        digest = hashlib.sha256()
        try:
            await in_thread(lambda: writer.open(columns, stream.live))
            rows = await self._copy(stream, columns, writer, digest)
            report = StreamExport(
                mirror.name,
                stream.name,
                columns,
                rows,
                digest.hexdigest(),
                stamp(self._clock.now()),
                writer.notes,
            )
            await in_thread(lambda: writer.commit(msgspec.to_builtins(report)))
        except BaseException:
            writer.abandon()
            raise
        return report

    async def _copy(
        self, stream: Stream, columns: Sequence[str], writer: RowWriter, digest: "hashlib._Hash"
    ) -> int:
        after = written = 0
        while True:
            query = RowQuery(stream.id, after, PAGE, deleted=self._deleted)
            page = await self._mirrors.rows(query)
            if not page:
                return written
            await in_thread(partial(self._write, page, columns, writer, digest))
            after = page[-1].number
            written += len(page)

    def _write(
        self,
        page: Sequence[StoredRow],
        columns: Sequence[str],
        writer: RowWriter,
        digest: "hashlib._Hash",
    ) -> None:
        rows = [self._row(each) for each in page]
        lines = canonical(rows, columns)
        writer.write(rows, lines)
        digest.update(lines)

    def _row(self, row: StoredRow) -> Mapping[str, Any]:
        body = _decode(row.body)
        if not self._deleted:
            return body
        at = None if row.deleted_at is None else stamp(row.deleted_at)
        return {**body, DELETED_AT: at}
