"""Workbooks: one sheet is read; the writer fills as many sheets as the rows need."""

import re
import zipfile
from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import msgspec

from headgate.core.errors import UsageError
from headgate.transfer.archive import check_inflated, open_archive
from headgate.transfer.files import LocalTarget, fingerprint
from headgate.transfer.formats.equality import CellsForm, equal
from headgate.transfer.formats.reader_messages import ReadOrder
from headgate.transfer.formats.reader_process import TableReader, open_table
from headgate.transfer.formats.registry import need
from headgate.transfer.formats.xlsx_cells import fitting, plain_number, xlsx_cell
from headgate.transfer.formats.xlsx_process import WorkbookOrder, WorkbookProcess
from headgate.transfer.limits import Limits

_encode_lines = msgspec.json.Encoder().encode_lines

MAX_SHEET_ROWS = 1_048_576
"""Rows of a sheet, including the header."""
MAX_SHEET_COLUMNS = 16_384


class XlsxSource:
    def __init__(self, path: Path, sheet: str | None = None, limits: Limits | None = None) -> None:
        need("python_calamine", "xlsx")
        self._path = path
        self._limits = limits or Limits()
        self._order = ReadOrder("xlsx", str(path), sheet=sheet, limits=self._limits)

    def fingerprint(self) -> str:
        return fingerprint(self._path)

    def effective_options(self) -> dict[str, str]:
        """The sheet that is read, stated or the first one with rows."""
        reader = self.open()
        try:
            return {"sheet": reader.sheet}
        finally:
            reader.close()

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


def same_in_xlsx(value: Any, cell: Any) -> bool:
    """Numbers and dates keep their type; None and empty text are an empty cell."""
    written = xlsx_cell(value)
    if written is None:
        return bool(cell == "")
    if isinstance(written, date):
        return bool(cell == written.isoformat())
    return equal(plain_number(written), cell)


EQUALITY = CellsForm(same_in_xlsx, lambda columns: [[fitting(name) for name in columns]])


CALCULATED = "xl/calcChain.xml"
"""Spreadsheet programs that calculate write this file; then every formula has a value."""
_BLOCK = 1024 * 1024
_LONGEST = 64 * 1024
"""Longest formula with its cell, in bytes."""
_UNVALUED = re.compile(rb"(?:</f>|<f\b[^>]*/>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")
_SHEET = re.compile(rb"<(?:\w+:)?sheet\b[^>]*>")
_RELATION = re.compile(rb"<Relationship\b[^>]*>")


class FormulaWatch:
    """Notices whether a workbook contains a formula, at little cost."""

    def __init__(self) -> None:
        self.seen = False

    def __call__(self, piece: bytes) -> None:
        self.seen = self.seen or b"<f>" in piece or b"<f " in piece


def notes_on_formulas(path: Path, sheet: str) -> tuple[str, ...]:
    """A warning if formulas of a sheet were read as empty."""
    count = unvalued_formulas(path, sheet)
    if not count:
        return ()
    cells = "1 cell contains a formula" if count == 1 else f"{count:,} cells contain formulas"
    note = (
        f"warning: {cells} without a stored value, read as empty: open the workbook in a"
        " spreadsheet program and save it, so that they are calculated"
    )
    return (note,)


def unvalued_formulas(path: Path, sheet: str) -> int:
    """Number of cells in a sheet with a formula and no stored value."""
    with zipfile.ZipFile(path) as archive:
        if CALCULATED in archive.namelist():
            return 0
        member = _member(archive, sheet)
        return _count(archive, member) if member else 0


def _count(archive: zipfile.ZipFile, member: str) -> int:
    found, rest = 0, b""
    with archive.open(member) as file:
        while block := file.read(_BLOCK):
            data = rest + block
            end = 0
            for match in _UNVALUED.finditer(data):
                found += 1
                end = match.end()
            rest = data[max(end, len(data) - _LONGEST) :]
    return found


def _member(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """Name of a sheet's file in the archive."""
    try:
        book = archive.read("xl/workbook.xml")
        relations = archive.read("xl/_rels/workbook.xml.rels")
    except KeyError:
        return None
    wanted = next(
        (
            _attribute(tag, rb"[\w]+:id")
            for tag in _SHEET.findall(book)
            if _attribute(tag, b"name") == sheet
        ),
        None,
    )
    for tag in _RELATION.findall(relations):
        if wanted is not None and _attribute(tag, b"Id") == wanted:
            target = _attribute(tag, b"Target") or ""
            name = target.removeprefix("/") if target.startswith("/") else f"xl/{target}"
            return name if name in archive.namelist() else None
    return None


def _attribute(tag: bytes, name: bytes) -> str | None:
    match = re.search(rb"\s" + name + rb"\s*=\s*([\"'])(.*?)\1", tag)
    return unescape(match[2].decode("utf-8", "replace")) if match else None
