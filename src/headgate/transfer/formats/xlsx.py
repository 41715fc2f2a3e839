"""Workbooks: one sheet in, as many sheets out as the rows need."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from headgate.core.errors import UsageError
from headgate.transfer.archive import check_inflated, open_archive
from headgate.transfer.extras import need
from headgate.transfer.formats.conveyor import Conveyor
from headgate.transfer.formats.frames import Order
from headgate.transfer.formats.table import TableReader, open_table
from headgate.transfer.formats.xlsx_cells import fitting, xlsx_cells
from headgate.transfer.limits import Limits
from headgate.transfer.places.local import LocalTarget, fingerprint

MAX_SHEET_ROWS = 1_048_576
"""With the header."""
MAX_SHEET_COLUMNS = 16_384


class XlsxSource:
    """One sheet of a workbook: rows under a header, blank rows passed over."""

    def __init__(self, path: Path, sheet: str | None = None, limits: Limits | None = None) -> None:
        need("python_calamine", "xlsx")
        self._path = path
        self._limits = limits or Limits()
        self._order = Order("xlsx", str(path), sheet=sheet, limits=self._limits)

    def fingerprint(self) -> str:
        """The hash and the size of the file."""
        return fingerprint(self._path)

    def open(self, position: str = "") -> TableReader:
        """Begin reading at a stored position, once the archive was found harmless."""
        with open_archive(self._path, self._limits, unsafe_names=False) as archive:
            check_inflated(self._path, archive, self._limits)
        return open_table(self._order, position)


class XlsxWriter:
    """Rows under a header; past the end of a sheet they go on in the next, under it again."""

    def __init__(self, path: Path, sheet_rows: int = MAX_SHEET_ROWS) -> None:
        need("rustpy_xlsxwriter", "xlsx")
        self._target = LocalTarget(path)
        self._sheet_rows = sheet_rows - 1
        self._columns: Sequence[str] = ()
        self._conveyor: Conveyor | None = None

    def open(self, columns: Sequence[str], rows: int = 0) -> None:
        """Begin; sheets are planned for so many rows."""
        if len(columns) > MAX_SHEET_COLUMNS:
            raise UsageError(
                f"a sheet has {MAX_SHEET_COLUMNS:,} columns, and there are {len(columns):,}: "
                "write CSV, JSON Lines or Parquet"
            )
        self._columns = [fitting(name) for name in columns]
        self._target.open()
        sheets = max(1, -(-rows // self._sheet_rows))
        self._conveyor = Conveyor(partial(self._write_book, self._target.part, sheets))

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append rows; a missing value is an empty cell."""
        if page := list(rows):
            self._moving.push(xlsx_cells(page, self._columns))

    def commit(self, record: Mapping[str, Any]) -> None:
        """Move into place, with its record."""
        self._moving.finish()
        self._target.commit(record)

    def abandon(self) -> None:
        """Remove what was written."""
        if self._conveyor is not None:
            self._conveyor.abandon()
        self._target.abandon()

    @property
    def _moving(self) -> Conveyor:
        if self._conveyor is None:
            raise RuntimeError("open() comes first")
        return self._conveyor

    def _write_book(self, path: Path, sheets: int, rows: Iterator[dict[str, Any]]) -> None:
        parts: list[tuple[str, Any]] = [
            (f"Sheet{number}", self._sheet(rows)) for number in range(1, sheets)
        ]
        parts.append((f"Sheet{sheets}", self._last_sheet(rows)))
        try:
            import_module("rustpy_xlsxwriter").write_worksheets(parts, str(path))
        except RuntimeError as error:
            raise OSError(f"the workbook cannot be written: {error}") from error

    def _sheet(self, rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        first = next(rows, None)
        # The library takes the header from the first row, so there must be one.
        yield dict.fromkeys(self._columns) if first is None else first
        yield from islice(rows, self._sheet_rows - 1)

    def _last_sheet(self, rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        yield from self._sheet(rows)
        if next(rows, None) is not None:
            raise UsageError(
                f"a sheet holds {self._sheet_rows:,} rows, and the job grew while it was written: "
                "export it again when it has been read to its end"
            )
