"""Writes the rows of a mirror into a file with one typed table for each stream."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from headgate.core.json_types import JsonType
from headgate.core.time_text import stamp
from headgate.engine.threads import in_thread
from headgate.ports.mirrors import Mirror, MirrorStore, RowQuery, StoredRow, Stream, StreamField
from headgate.ports.tables import ColumnType, TableColumn, TableWriter

ROW_ID: Final = TableColumn("_row_id", ColumnType.TEXT)
CHANGED_AT: Final = TableColumn("_row_changed_at", ColumnType.TEXT)
DELETED_AT: Final = TableColumn("_row_deleted_at", ColumnType.TEXT)
_TYPES: Final = {
    JsonType.BOOLEAN: ColumnType.BOOLEAN,
    JsonType.INTEGER: ColumnType.INTEGER,
    JsonType.NUMBER: ColumnType.NUMBER,
    JsonType.INTEGER | JsonType.NUMBER: ColumnType.NUMBER,
}
_decode: Final = msgspec.json.Decoder(dict[str, Any]).decode
_encode: Final = msgspec.json.Encoder().encode


class TablesReport(msgspec.Struct, frozen=True):
    """The contents of a file of tables, stored beside it as its record."""

    mirror: str
    rows: Mapping[str, int]
    """By stream."""
    notes: tuple[str, ...] = ()


class MirrorTables:
    PAGE = 2_000

    def __init__(self, mirrors: MirrorStore, *, deleted: bool = False) -> None:
        """With `deleted`, rows that were deleted are written too."""
        self._mirrors = mirrors
        self._deleted = deleted

    async def run(
        self, mirror: Mirror, streams: Sequence[Stream], writer: TableWriter
    ) -> TablesReport:
        """Write all rows of these streams; the file appears only when it is complete."""
        try:
            await in_thread(writer.open)
            rows = {each.name: await self._copy(each, writer) for each in streams}
            report = TablesReport(mirror.name, rows, tuple(writer.notes))
            await in_thread(lambda: writer.commit(msgspec.to_builtins(report)))
        except BaseException:
            writer.abandon()
            raise
        return report

    async def _copy(self, stream: Stream, writer: TableWriter) -> int:
        fields = await self._mirrors.fields(stream.id)
        types = [column_type(each.types) for each in fields]
        columns = [ROW_ID, *map(_column, fields), CHANGED_AT, DELETED_AT]
        await in_thread(lambda: writer.begin(stream.name, columns))
        names = [each.name for each in fields]
        after = written = 0
        while page := await self._page(stream, after):
            values = [_values(row, names, types) for row in page]
            await in_thread(partial(writer.write, values))
            after, written = page[-1].number, written + len(page)
        return written

    async def _page(self, stream: Stream, after: int) -> list[StoredRow]:
        return await self._mirrors.rows(RowQuery(stream.id, after, self.PAGE, self._deleted))


def column_type(types: int) -> ColumnType:
    """The type of a column that holds every value of a field."""
    return _TYPES.get(JsonType(types & ~JsonType.NULL), ColumnType.TEXT)


def _column(field: StreamField) -> TableColumn:
    return TableColumn(field.name, column_type(field.types))


def _values(row: StoredRow, names: Sequence[str], types: Sequence[ColumnType]) -> list[Any]:
    body = _decode(row.body)
    found = [
        _text(body.get(name)) if kind is ColumnType.TEXT else body.get(name)
        for name, kind in zip(names, types, strict=True)
    ]
    deleted_at = None if row.deleted_at is None else stamp(row.deleted_at)
    return [row.id, *found, stamp(row.changed_at), deleted_at]


def _text(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else _encode(value).decode()
