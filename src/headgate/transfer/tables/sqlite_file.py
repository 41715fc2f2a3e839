"""One SQLite file with a typed table for each stream."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from headgate.ports.tables import ColumnType, TableColumn
from headgate.transfer.files import LocalTarget
from headgate.transfer.tables.names import distinct, quoted, take

MOST_COLUMNS: Final = 2_000
"""Most columns of a table in SQLite."""
_LARGEST: Final = 2**63
_TYPES: Final = {
    ColumnType.BOOLEAN: "BOOLEAN",
    ColumnType.INTEGER: "INTEGER",
    ColumnType.NUMBER: "NUMERIC",
    ColumnType.TEXT: "TEXT",
}


class SqliteWriter:
    def __init__(self, path: Path) -> None:
        self.notes: list[str] = []
        self._target = LocalTarget(path)
        self._taken: set[str] = set()
        self._connection: sqlite3.Connection | None = None
        self._insert = ""
        self._table = ""
        self._width = 0

    def open(self) -> None:
        self._target.open()
        # Rows are given by whichever thread is free, one after the other. The file is not shown
        # before it is complete, so no journal has to protect it.
        connection = sqlite3.connect(
            self._target.part, isolation_level=None, check_same_thread=False
        )
        self._connection = connection
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")

    def begin(self, table: str, columns: Sequence[TableColumn]) -> None:
        if len(columns) > MOST_COLUMNS:
            self.notes.append(
                f"{table}: it has {len(columns):,} columns, and SQLite takes {MOST_COLUMNS:,}; the"
                " last ones are left out"
            )
        kept = columns[:MOST_COLUMNS]
        # SQLite keeps names with this prefix for itself.
        wanted = f"_{table}" if table.lower().startswith("sqlite_") else table
        self._table, self._width = take(wanted, self._taken), len(kept)
        names = distinct(each.name for each in kept)
        declared = ", ".join(
            f"{quoted(name)} {_TYPES[each.type]}" for name, each in zip(names, kept, strict=True)
        )
        self._run(f"CREATE TABLE {quoted(self._table)} ({declared})")
        marks = ", ".join("?" * self._width)
        self._insert = f"INSERT INTO {quoted(self._table)} VALUES ({marks})"  # noqa: S608  quoted

    def write(self, rows: Sequence[Sequence[Any]]) -> None:
        if self._connection is None:
            raise RuntimeError("write() before open()")
        fitting = [[self._fitting(value) for value in row[: self._width]] for row in rows]
        try:
            self._connection.execute("BEGIN")
            self._connection.executemany(self._insert, fitting)
            self._connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise OSError(f"the SQLite file cannot be written: {error}") from error

    def commit(self, record: Mapping[str, Any]) -> None:
        self._close()
        self._target.commit(record)

    def abandon(self) -> None:
        self._close()
        self._target.abandon()

    def _fitting(self, value: Any) -> Any:
        if type(value) is not int or -_LARGEST <= value < _LARGEST:
            return value
        note = f"{self._table}: whole numbers beyond 64 bits are rounded"
        if note not in self.notes:
            self.notes.append(note)
        return float(value)

    def _run(self, statement: str) -> None:
        if self._connection is None:
            raise RuntimeError("begin() before open()")
        with closing(self._connection.execute(statement)):
            pass

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
