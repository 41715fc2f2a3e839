"""Rows in and rows out: what a format and a place must offer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec


class Record(msgspec.Struct, frozen=True):
    """One row of a source. `position` is where reading would go on after it."""

    line: int
    position: str
    values: Mapping[str, Any]
    problem: str | None = None
    """Why the row is bad; `values` then holds what could be read."""


class Source(Protocol):
    """Rows of one file in one format."""

    columns: tuple[str, ...]
    """Known once reading began."""

    def fingerprint(self) -> str:
        """A name for the content: the same bytes give the same name."""
        ...

    def read(self, position: str) -> Iterable[Record]:
        """Rows from `position` on ("" is the start)."""
        ...


class RowWriter(Protocol):
    """Writes rows to a file that appears only when it is complete."""

    def open(self, columns: Sequence[str]) -> None:
        """Begin."""
        ...

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append rows."""
        ...

    def commit(self) -> None:
        """Flush to disk and move into place."""
        ...

    def abandon(self) -> None:
        """Remove what was written."""
        ...
