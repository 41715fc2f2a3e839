"""Compare a row of a file with a row of the store, by the rules of the file's format."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import msgspec

from headgate.core.words import counted
from headgate.ports.source import RowForm, Source
from headgate.transfer.formats.cells import Formulas, cell_text, csv_cells, neutral
from headgate.transfer.formats.header import column_names
from headgate.transfer.formats.xlsx_cells import fitting, plain_number, xlsx_cell
from headgate.transfer.limits import Limits
from headgate.transfer.sources import ReadOptions, format_of, open_source

_SHOWN = 60
_encode = msgspec.json.Encoder().encode
_ANY_SIZE = Limits(
    max_rows=2**62,
    max_columns=2**31,
    max_record_bytes=64 * 1024**2,
    max_cell_bytes=2**40,
    max_decompressed_bytes=2**40,
    max_ratio=2_000,
)
"""Limits for checking our own exports, whatever their size."""


class CellsForm:
    """Rows of cells under a header: CSV, workbooks and Parquet."""

    def __init__(
        self,
        same: Callable[[Any, Any], bool],
        headers: Callable[[Sequence[str]], Sequence[Sequence[str]]],
    ) -> None:
        self._same = same
        self._headers = headers

    def columns_differ(self, columns: Sequence[str], found: Sequence[str]) -> str | None:
        """The difference in the header; None if there is none."""
        if any(tuple(found) == column_names(header) for header in self._headers(columns)):
            return None
        missing = [name for name in columns if name not in found]
        unknown = [name for name in found if name not in columns]
        return f"the columns differ: missing are {missing}, unknown are {unknown}"

    def row_differs(
        self, columns: Sequence[str], row: Mapping[str, Any], found: Mapping[str, Any]
    ) -> str | None:
        """The first cell that differs; None if all are equal."""
        same = self._same
        for name, cell in zip(columns, found.values(), strict=False):
            if not same(row.get(name), cell):
                return _differing(name, row.get(name), cell)
        return None if len(found) == len(columns) else counted(len(found), "value")


class ObjectsForm:
    """Rows that carry their own names: JSON Lines."""

    def columns_differ(self, columns: Sequence[str], found: Sequence[str]) -> str | None:  # noqa: ARG002
        """Always None: JSON Lines has no header."""
        return None

    def row_differs(
        self,
        columns: Sequence[str],  # noqa: ARG002 (each row names its values)
        row: Mapping[str, Any],
        found: Mapping[str, Any],
    ) -> str | None:
        """The first value that differs; None if all are equal."""
        # As JSON, because in Python True equals 1 and 2.0 equals 2.
        if _encode(row) == _encode(found):
            return None
        for name in {**row, **found}:
            if name not in row or name not in found or _encode(row[name]) != _encode(found[name]):
                return _differing(name, row.get(name), found.get(name))
        return None


def same_in_csv(value: Any, cell: Any) -> bool:
    """CSV has only text, with an apostrophe before text that a spreadsheet would run."""
    text = cell_text(value)
    return bool(cell in (text, neutral(text)))


def same_in_xlsx(value: Any, cell: Any) -> bool:
    """Numbers and dates keep their type; None and empty text are an empty cell."""
    written = xlsx_cell(value)
    if written is None:
        return bool(cell == "")
    if isinstance(written, date):
        return bool(cell == written.isoformat())
    return _equal(plain_number(written), cell)


def same_in_parquet(value: Any, cell: Any) -> bool:
    """The same value, or its text if other rows of the column have another type."""
    if _equal(value, cell):
        return True
    if value is None or not isinstance(cell, str):
        return False
    as_float = cell_text(float(value)) if type(value) is int else None
    return cell in {cell_text(value), as_float}


def _equal(value: Any, cell: Any) -> bool:
    # In Python, True equals 1.
    return (type(value) is bool) is (type(cell) is bool) and bool(value == cell)


def _plain_header(columns: Sequence[str]) -> Sequence[Sequence[str]]:
    return [columns]


_CSV_FORM = CellsForm(same_in_csv, lambda columns: [columns, csv_cells(columns, Formulas.NEUTRAL)])
FORMS: Mapping[str, RowForm] = {
    "csv": _CSV_FORM,
    "tsv": _CSV_FORM,
    "jsonl": ObjectsForm(),
    "xlsx": CellsForm(same_in_xlsx, lambda columns: [[fitting(name) for name in columns]]),
    "parquet": CellsForm(same_in_parquet, _plain_header),
}


def open_written(path: Path, stated: str | None = None) -> tuple[Sequence[Source], RowForm]:
    """Open a file that an export wrote: its parts in order, and the format of its rows."""
    name = format_of(path, stated)
    whole = open_source(path, ReadOptions(name), _ANY_SIZE)
    return _parts(whole, path) if name == "xlsx" else [whole], FORMS[name]


def _parts(whole: Source, path: Path) -> Sequence[Source]:
    reader = whole.open()
    sheets = reader.sheets
    reader.close()
    if len(sheets) < 2:
        return [whole]
    return [open_source(path, ReadOptions("xlsx", sheet=name), _ANY_SIZE) for name in sheets]


def _differing(name: str, value: Any, cell: Any) -> str:
    return f"{name!r} is {_short(cell)} in the file and {_short(value)} in the store"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
