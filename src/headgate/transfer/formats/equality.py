"""Compare a row of a file with a row of the store; each format says which cells are the same."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from headgate.core.words import counted
from headgate.transfer.formats.header import column_names

_SHOWN = 60
_encode = msgspec.json.Encoder().encode


class CellsForm:
    def __init__(
        self,
        same: Callable[[Any, Any], bool],
        headers: Callable[[Sequence[str]], Sequence[Sequence[str]]],
    ) -> None:
        self._same = same
        self._headers = headers

    def columns_differ(self, columns: Sequence[str], found: Sequence[str]) -> str | None:
        if any(tuple(found) == column_names(header) for header in self._headers(columns)):
            return None
        missing = [name for name in columns if name not in found]
        unknown = [name for name in found if name not in columns]
        return f"the columns differ: missing are {missing}, unknown are {unknown}"

    def row_differs(
        self, columns: Sequence[str], row: Mapping[str, Any], found: Mapping[str, Any]
    ) -> str | None:
        same = self._same
        for name, cell in zip(columns, found.values(), strict=False):
            if not same(row.get(name), cell):
                return _differing(name, row.get(name), cell)
        return None if len(found) == len(columns) else counted(len(found), "value")


class ObjectsForm:
    def columns_differ(self, columns: Sequence[str], found: Sequence[str]) -> str | None:  # noqa: ARG002
        """Always None: JSON Lines has no header."""
        return None

    def row_differs(
        self,
        columns: Sequence[str],  # noqa: ARG002 (each row names its values)
        row: Mapping[str, Any],
        found: Mapping[str, Any],
    ) -> str | None:
        # As JSON, because in Python True equals 1 and 2.0 equals 2.
        if _encode(row) == _encode(found):
            return None
        for name in {**row, **found}:
            if name not in row or name not in found or _encode(row[name]) != _encode(found[name]):
                return _differing(name, row.get(name), found.get(name))
        return None


def equal(value: Any, cell: Any) -> bool:
    """Equal as JSON values: in Python, True equals 1."""
    return (type(value) is bool) is (type(cell) is bool) and bool(value == cell)


def _differing(name: str, value: Any, cell: Any) -> str:
    return f"{name!r} is {_short(cell)} in the file and {_short(value)} in the store"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
