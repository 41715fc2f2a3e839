"""Exports the rows of a stream, in the order in which they were first seen, and a hash of them."""

import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from headgate.engine.export import canonical
from headgate.engine.threads import in_thread
from headgate.ports.source import RowWriter

DELETED_AT = "_deleted_at"
"""The column that says when a row was found deleted."""

Rows = Sequence[Mapping[str, Any]]


class StreamTable(NamedTuple):
    """A stream as a table."""

    mirror: str
    stream: str
    columns: tuple[str, ...]
    expected: int
    """About how many rows it has."""


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


async def export_stream(
    table: StreamTable, pages: AsyncIterator[Rows], writer: RowWriter, now: str
) -> StreamExport:
    """Write a stream; the file appears when it is complete.

    While a pass runs, each row is written as it is when it is read.
    """
    written = _Written(table.columns, writer)
    try:
        await in_thread(lambda: writer.open(table.columns, table.expected))
        async for rows in pages:
            await in_thread(partial(written.add, rows))
        report = StreamExport(
            table.mirror,
            table.stream,
            table.columns,
            written.rows,
            written.digest.hexdigest(),
            now,
            writer.notes,
        )
        await in_thread(lambda: writer.commit(msgspec.to_builtins(report)))
    except BaseException:
        writer.abandon()
        raise
    return report


class _Written:
    def __init__(self, columns: Sequence[str], writer: RowWriter) -> None:
        self._columns = columns
        self._writer = writer
        self.rows = 0
        self.digest = hashlib.sha256()

    def add(self, rows: Rows) -> None:
        lines = canonical(rows, self._columns)
        self._writer.write(rows, lines)
        self.digest.update(lines)
        self.rows += len(rows)
