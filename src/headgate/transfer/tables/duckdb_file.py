"""One DuckDB file with a typed table for each stream."""

import tempfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import msgspec

from headgate.ports.tables import ColumnType, TableColumn
from headgate.transfer.files import LocalTarget
from headgate.transfer.tables.names import distinct, quoted, take

LARGEST_ROW: Final = 1 << 30
"""Bytes; DuckDB refuses larger lines."""
_LARGEST: Final = 2**63
_TYPES: Final = {
    ColumnType.BOOLEAN: "BOOLEAN",
    ColumnType.INTEGER: "BIGINT",
    ColumnType.NUMBER: "DOUBLE",
    ColumnType.TEXT: "VARCHAR",
}
_encode: Final = msgspec.json.Encoder().encode


class DuckdbWriter:
    """Rows are handed over as lines of JSON: row by row, DuckDB takes a hundred times as long."""

    def __init__(self, path: Path) -> None:
        self.notes: list[str] = []
        # A large import, and an optional dependency.
        self._duckdb: Any = import_module("duckdb")
        self._target = LocalTarget(path)
        self._taken: set[str] = set()
        self._connection: Any = None
        self._table = ""
        self._columns: Sequence[TableColumn] = ()

    def open(self) -> None:
        self._target.open()
        # DuckDB makes its file itself, and takes no empty one.
        self._target.part.unlink()
        self._connection = self._duckdb.connect(str(self._target.part))

    def begin(self, table: str, columns: Sequence[TableColumn]) -> None:
        self._table, self._columns = take(table, self._taken), columns
        names = distinct(each.name for each in columns)
        declared = ", ".join(
            f"{quoted(name)} {_TYPES[each.type]}" for name, each in zip(names, columns, strict=True)
        )
        self._connection.execute(f"CREATE TABLE {quoted(self._table)} ({declared})")

    def write(self, rows: Sequence[Sequence[Any]]) -> None:
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
            for row in rows:
                file.write(_encode({f"c{n}": self._fitting(each) for n, each in enumerate(row)}))
                file.write(b"\n")
            file.flush()
            types = ", ".join(
                f"c{n}: '{_TYPES[each.type]}'" for n, each in enumerate(self._columns)
            )
            self._connection.execute(
                f"INSERT INTO {quoted(self._table)} SELECT * FROM read_json(?,"  # noqa: S608  quoted
                f" format = 'newline_delimited', maximum_object_size = {LARGEST_ROW},"
                f" columns = {{{types}}})",
                [file.name],
            )

    def commit(self, record: Mapping[str, Any]) -> None:
        self._close()
        self._target.commit(record)

    def abandon(self) -> None:
        self._close()
        self._target.abandon()

    def _fitting(self, value: Any) -> Any:
        if type(value) is not int or -_LARGEST <= value < _LARGEST:
            return value
        note = f"{self._table}: whole numbers beyond 64 bits are left empty"
        if note not in self.notes:
            self.notes.append(note)
        return None

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
