"""A file with several typed tables, such as a database, for the rows of a mirror."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

import msgspec


class ColumnType(StrEnum):
    BOOLEAN = "boolean"
    INTEGER = "integer"
    NUMBER = "number"
    """Whole numbers and others."""
    TEXT = "text"
    """Anything else; lists and objects as JSON."""


class TableColumn(msgspec.Struct, frozen=True):
    name: str
    type: ColumnType


class TableWriter(Protocol):
    """Writes a file that appears only when it is complete."""

    notes: Sequence[str]
    """What the file cannot hold as it is in the mirror."""

    def open(self) -> None: ...

    def begin(self, table: str, columns: Sequence[TableColumn]) -> None:
        """Begin a table. Names that the file cannot tell apart get a number."""
        ...

    def write(self, rows: Sequence[Sequence[Any]]) -> None:
        """Add rows to the table; their values have the types of its columns, or are None."""
        ...

    def commit(self, record: Mapping[str, Any]) -> None:
        """Show the file, with a record of its contents beside it."""
        ...

    def abandon(self) -> None: ...
