"""Values as cells of a workbook: what it cannot hold as such becomes text."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from headgate.transfer.formats.cells import cell_text

LONGEST_TEXT = 32_767
"""UTF-16 units that a cell may hold."""
LARGEST_EXACT = 2**53
"""Larger whole numbers would be rounded, so they are written as text."""
EARLIEST_YEAR = 1901
"""Before, spreadsheets do not agree on which day it was."""

_SHORT_ENOUGH = LONGEST_TEXT // 2
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", re.ASCII)
_DATE_LENGTHS = {10: _DAY, 19: _MOMENT}
_AS_THEY_ARE = {type(None), bool, float}


def xlsx_cells(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> list[dict[str, Any]]:
    """Rows with a cell for each column, in order; by columns, because most hold one type only."""
    cells = [_column([row.get(name) for row in rows]) for name in columns]
    return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]


def xlsx_cell(value: Any) -> Any:
    """One value as a cell."""
    if isinstance(value, bool | float) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) <= LARGEST_EXACT else str(value)
    text = cell_text(value)
    if len(text) in _DATE_LENGTHS and isinstance(value, str):
        return _moment(text)
    return text if len(text) <= _SHORT_ENOUGH else fitting(text)


def plain_number(number: Any) -> Any:
    """A number as it is read: workbooks do not tell 2.0 from 2."""
    if type(number) is float and number.is_integer() and abs(number) <= LARGEST_EXACT:
        return int(number)
    return number


def fitting(text: str) -> str:
    """The text, or its beginning with a mark that says how long it was."""
    size = len(text.encode("utf-16-le")) // 2
    if size <= LONGEST_TEXT:
        return text
    mark = f" … [cut: {len(text):,} characters]"
    kept = text.encode("utf-16-le")[: 2 * (LONGEST_TEXT - len(mark))]
    return kept.decode("utf-16-le", "ignore") + mark


def _column(values: list[Any]) -> list[Any]:
    kinds = set(map(type, values))
    if kinds <= _AS_THEY_ARE:
        return values
    if kinds == {str}:
        lengths = set(map(len, values))
        if lengths.isdisjoint(_DATE_LENGTHS) and max(lengths) <= _SHORT_ENOUGH:
            return values
    return [xlsx_cell(value) for value in values]


def _moment(text: str) -> str | date | datetime:
    """A date or a time if that is what the text says, in the form in which it is read again."""
    if not _DATE_LENGTHS[len(text)].fullmatch(text) or int(text[:4]) < EARLIEST_YEAR:
        return text
    try:
        return date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)
    except ValueError:
        return text
