"""The rows of a workbook; runs in the reader process."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from itertools import chain, islice, repeat
from typing import Any

import python_calamine as calamine

from headgate.core.errors import BadSource
from headgate.core.words import counted
from headgate.transfer.formats.cells import cell_text
from headgate.transfer.formats.header import checked_names, extra_name
from headgate.transfer.formats.reader_messages import (
    Message,
    ReadEnded,
    ReadOrder,
    RowsMessage,
    TableHead,
    framed,
)
from headgate.transfer.formats.xlsx_cells import LARGEST_EXACT, plain_number

GROUP = 1_000
"""Rows that are converted together."""
PEEK = 100
"""Rows that are examined for columns without a name."""

NumberedRow = tuple[int, Sequence[Any]]


def read(order: ReadOrder) -> Iterator[Message]:
    book = _open(order.path)
    sheet, notes = _choose(book, order.sheet)
    names = tuple(book.sheet_names)
    rows = ((line, row) for line, row in enumerate(sheet.iter_rows(), 1) if any(map(_filled, row)))
    header = next(rows, None)
    if header is None:
        yield TableHead((), notes, names, sheet.name)
        yield ReadEnded()
        return
    first = list(islice(rows, PEEK))
    columns = _columns(order, header, first)
    yield TableHead(columns, notes, names, sheet.name)
    wanted = (row for row in chain(first, rows) if row[0] > order.after_line)
    yield from _messages(wanted, columns, order.limits.max_record_bytes)
    yield ReadEnded()


def _open(path: str) -> calamine.CalamineWorkbook:
    try:
        return calamine.load_workbook(path)
    except calamine.PasswordError as error:
        raise BadSource(f"{path} is protected by a password: save it without one") from error
    except calamine.CalamineError as error:
        raise BadSource(f"{path} cannot be read as a workbook: {error}") from error


def _choose(
    book: calamine.CalamineWorkbook, wanted: str | None
) -> tuple[calamine.CalamineSheet, tuple[str, ...]]:
    """The requested sheet, else the first with rows; and a note on the sheets left out."""
    if wanted is not None:
        if wanted not in book.sheet_names:
            there = ", ".join(map(repr, book.sheet_names))
            raise BadSource(f"the workbook has no sheet {wanted!r}; it has: {there}")
        return _sheet(book, wanted), ()
    worksheet, visible = calamine.SheetTypeEnum.WorkSheet, calamine.SheetVisibleEnum.Visible
    sheets = [each for each in book.sheets_metadata if each.typ == worksheet]
    names = [each.name for each in sheets if each.visible == visible] or [s.name for s in sheets]
    if not names:
        raise BadSource("the workbook has no worksheet")
    for name in names:
        sheet = _sheet(book, name)
        if sheet.height:
            others = [other for other in names if other != name]
            ignored = f"only sheet {name!r} is read; not read: {', '.join(map(repr, others))}"
            return sheet, (ignored,) if others else ()
    return _sheet(book, names[0]), ()


def _sheet(book: calamine.CalamineWorkbook, name: str) -> calamine.CalamineSheet:
    try:
        return book.get_sheet_by_name(name)
    except calamine.CalamineError as error:
        raise BadSource(f"sheet {name!r} cannot be read: {error}") from error


def _filled(cell: object) -> bool:
    return cell != ""


def _columns(
    order: ReadOrder, header: NumberedRow, first: Iterable[NumberedRow]
) -> tuple[str, ...]:
    """Names for all columns that have a name, or a value in the first rows."""
    width = max(_width(row) for _, row in (header, *first))
    names = [cell_text(plain_cell(cell)) for cell in header[1][:width]]
    return checked_names(names, order.path, order.limits.max_columns)


def _width(row: Sequence[Any]) -> int:
    width = len(row)
    while width and row[width - 1] == "":
        width -= 1
    return width


def _messages(
    rows: Iterator[NumberedRow], columns: tuple[str, ...], max_record_bytes: int
) -> Iterator[RowsMessage]:
    width = len(columns)
    extra = extra_name(columns)
    while group := list(islice(rows, GROUP)):
        lines = [line for line, _ in group]
        cells = _turned(map(plain_column, _turned(row for _, row in group)))
        values: list[dict[str, Any]] = list(map(dict, map(zip, repeat(columns), cells)))
        problems = {}
        if len(cells[0]) > width:
            for index, row in enumerate(cells):
                if used := _width(row[width:]):
                    values[index][extra] = row[width : width + used]
                    problems[index] = (
                        f"{counted(width + used, 'value')} for {counted(width, 'column')}"
                    )
        yield from framed(lines, values, problems, max_record_bytes)


def _turned(lists: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
    return list(zip(*lists, strict=True))


def plain_column(cells: Sequence[Any]) -> Sequence[Any]:
    """The cells of a column as JSON values; by column, because most have a single type."""
    kinds = set(map(type, cells))
    if kinds == {str}:
        return cells
    if (
        kinds == {float}
        and all(map(float.is_integer, cells))
        and max(map(abs, cells)) <= LARGEST_EXACT
    ):
        return list(map(int, cells))
    if kinds == {date}:
        return list(map(date.isoformat, cells))
    return list(map(plain_cell, cells))


def plain_cell(cell: Any) -> Any:
    """A cell as a JSON value: integers without a decimal point, times as ISO text."""
    if type(cell) is float:
        return plain_number(cell)
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return _duration(cell)
    return cell


def _duration(span: timedelta) -> str:
    """Hours, minutes and seconds, as a spreadsheet shows a duration (`30:05:00`)."""
    seconds = round(span.total_seconds())
    minutes, seconds = divmod(abs(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    sign = "-" if span < timedelta() else ""
    return f"{sign}{hours}:{minutes:02}:{seconds:02}"
