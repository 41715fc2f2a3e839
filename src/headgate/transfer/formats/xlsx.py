"""Workbooks: one sheet is read; the writer fills as many sheets as the rows need."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from headgate.core.errors import UsageError
from headgate.transfer.archive import check_inflated, open_archive
from headgate.transfer.extras import need
from headgate.transfer.formats.reader_messages import ReadOrder
from headgate.transfer.formats.reader_process import TableReader, open_table
from headgate.transfer.formats.xlsx_cells import fitting
from headgate.transfer.formats.xlsx_formulas import FormulaWatch, notes_on_formulas
from headgate.transfer.formats.xlsx_process import WorkbookOrder, WorkbookProcess
from headgate.transfer.limits import Limits
from headgate.transfer.places.local import LocalTarget, fingerprint

_encode_lines = msgspec.json.Encoder().encode_lines

MAX_SHEET_ROWS = 1_048_576
"""Rows of a sheet, including the header."""
MAX_SHEET_COLUMNS = 16_384


class XlsxSource:
    """One sheet of a workbook with a header; blank rows are skipped."""

    def __init__(self, path: Path, sheet: str | None = None, limits: Limits | None = None) -> None:
        need("python_calamine", "xlsx")
        self._path = path
        self._limits = limits or Limits()
        self._order = ReadOrder("xlsx", str(path), sheet=sheet, limits=self._limits)

    def fingerprint(self) -> str:
        return fingerprint(self._path)

    def open(self, position: str = "") -> TableReader:
        """Begin reading at a stored position; the archive's real sizes are checked first."""
        with open_archive(self._path, self._limits, unsafe_names=False) as archive:
            watch = FormulaWatch()
            check = partial(check_inflated, self._path, archive, self._limits, watch)
            reader = open_table(self._order, position, check)
        if watch.seen:
            reader.notes += notes_on_formulas(self._path, reader.sheet)
        return reader


class XlsxWriter:
    """Writes rows below a header; when a sheet is full, the next begins with the header again."""

    notes: tuple[str, ...] = ()

    def __init__(self, path: Path, sheet_rows: int = MAX_SHEET_ROWS) -> None:
        need("rustpy_xlsxwriter", "xlsx")
        self._target = LocalTarget(path)
        self._sheet_rows = sheet_rows - 1
        self._columns: Sequence[str] = ()
        self._book: WorkbookProcess | None = None

    def open(self, columns: Sequence[str], rows: int = 0) -> None:
        """Start the process; `rows` decides the number of sheets."""
        if len(columns) > MAX_SHEET_COLUMNS:
            raise UsageError(
                f"a sheet has at most {MAX_SHEET_COLUMNS:,} columns, not {len(columns):,}: "
                "write CSV, JSON Lines or Parquet"
            )
        self._columns = columns
        self._target.open()
        names = tuple(fitting(name) for name in columns)
        sheets = max(1, -(-rows // self._sheet_rows))
        order = WorkbookOrder(str(self._target.part), names, sheets, self._sheet_rows)
        self._book = WorkbookProcess(order)

    def write(self, rows: Sequence[Mapping[str, Any]], lines: bytes = b"") -> None:
        """Append rows; a missing value is an empty cell."""
        if self._book is not None and rows:
            columns = self._columns
            self._book.push(lines or _encode_lines([[*map(row.get, columns)] for row in rows]))

    def commit(self, record: Mapping[str, Any]) -> None:
        if self._book is not None:
            self._book.finish()
        self._target.commit(record)

    def abandon(self) -> None:
        if self._book is not None:
            self._book.abandon()
        self._target.abandon()
