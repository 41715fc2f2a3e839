"""Values as cells of a workbook; a value without a matching cell type becomes text."""

import re
from collections.abc import Collection, Sequence
from datetime import date, datetime, time
from functools import lru_cache
from itertools import repeat
from typing import Any

from headgate.transfer.formats.cells import cell_text

LONGEST_TEXT = 32_767
"""UTF-16 units in a cell."""
LARGEST_EXACT = 2**53
"""Larger integers would be rounded, so they are written as text."""
EARLIEST_YEAR = 1901
"""Spreadsheets disagree on dates before this year."""

_SHORT_ENOUGH = LONGEST_TEXT // 2
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", re.ASCII)
_DATE_LENGTHS = {10: _DAY, 19: _MOMENT}
_AS_THEY_ARE = {type(None), bool, float}


def xlsx_cells(
    rows: Sequence[Sequence[Any]], columns: Sequence[str], days: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Rows as dicts of cells; converted by column, because most columns have a single type.

    `days` are the columns that show days without a time.
    """
    cells = [
        _dated_column(values, day=name in days)
        for name, values in zip(columns, zip(*rows, strict=True), strict=False)
    ]
    return list(map(dict, map(zip, repeat(columns), zip(*cells, strict=True))))


def day_columns(rows: Sequence[Sequence[Any]], columns: Sequence[str]) -> frozenset[str]:
    kinds = [set(map(type, _column(values))) for values in zip(*rows, strict=True)]
    pairs = zip(columns, kinds, strict=False)
    return frozenset(name for name, found in pairs if date in found and datetime not in found)


def _dated_column(values: Sequence[Any], *, day: bool) -> Sequence[Any]:
    cells = _column(values)
    return cells if cells is values else _one_kind_of_dates(cells, day=day)


def _one_kind_of_dates(cells: Sequence[Any], *, day: bool) -> Sequence[Any]:
    """Dates of a column in one form: the library has one date format for a column.

    In a column of times, a day becomes its midnight. In a column of days, a time becomes text, as
    it would not be shown.
    """
    wrong = datetime if day else date
    if wrong not in set(map(type, cells)):
        return cells
    return [_other_kind(cell) if type(cell) is wrong else cell for cell in cells]


def _other_kind(cell: date) -> datetime | str:
    if isinstance(cell, datetime):
        return cell.isoformat()
    return datetime.combine(cell, time())


def xlsx_cell(value: Any) -> Any:
    if type(value) is str:
        if len(value) in _DATE_LENGTHS:
            return _moment(value)
        return value if len(value) <= _SHORT_ENOUGH else fitting(value)
    if isinstance(value, bool | float) or value is None:
        return value
    if isinstance(value, int) and abs(value) <= LARGEST_EXACT:
        return value
    return fitting(cell_text(value))


def plain_number(number: Any) -> Any:
    """A number as it is read back: workbooks do not distinguish 2.0 from 2."""
    if type(number) is float and number.is_integer() and abs(number) <= LARGEST_EXACT:
        return int(number)
    return number


def fitting(text: str) -> str:
    """The text, cut if it is too long, with a mark that says how long it was."""
    if len(text) <= _SHORT_ENOUGH or len(text.encode("utf-16-le")) // 2 <= LONGEST_TEXT:
        return text
    mark = f" … [cut: {len(text):,} characters]"
    kept = text.encode("utf-16-le")[: 2 * (LONGEST_TEXT - len(mark))]
    return kept.decode("utf-16-le", "ignore") + mark


def _column(values: Sequence[Any]) -> Sequence[Any]:
    kinds = set(map(type, values))
    if kinds <= _AS_THEY_ARE:
        return values
    if kinds == {int} and max(values) <= LARGEST_EXACT and min(values) >= -LARGEST_EXACT:
        return values
    if kinds == {str}:
        lengths = set(map(len, values))
        if lengths.isdisjoint(_DATE_LENGTHS) and max(lengths) <= _SHORT_ENOUGH:
            return values
    return list(map(xlsx_cell, values))


@lru_cache(maxsize=10_000)  # the same days recur
def _moment(text: str) -> str | date | datetime:
    """A date or time if the text is one in ISO form; otherwise the text."""
    if not _DATE_LENGTHS[len(text)].fullmatch(text) or int(text[:4]) < EARLIEST_YEAR:
        return text
    try:
        return date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)
    except ValueError:
        return text
