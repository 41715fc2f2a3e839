"""Types of the columns of a Parquet file that is being written, derived from their values."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from headgate.transfer.formats.cells import cell_text


class ColumnKind(IntEnum):
    """Type of a column's values; TEXT can hold any value."""

    NOTHING = 0
    BOOLEAN = 1
    INTEGER = 2
    LARGE = 3
    """Integers of which some would be rounded as a NUMBER."""
    NUMBER = 4
    TEXT = 5


_EXACT = 2**53
_LARGEST = 2**63
_KINDS = {
    type(None): ColumnKind.NOTHING,
    bool: ColumnKind.BOOLEAN,
    int: ColumnKind.INTEGER,
    float: ColumnKind.NUMBER,
}
_WIDER = {
    frozenset({ColumnKind.INTEGER, ColumnKind.LARGE}): ColumnKind.LARGE,
    frozenset({ColumnKind.INTEGER, ColumnKind.NUMBER}): ColumnKind.NUMBER,
}


def kind_of(values: Sequence[Any]) -> ColumnKind:
    """The kind that holds all values unchanged, or TEXT."""
    kind = ColumnKind.NOTHING
    for found in set(map(type, values)):
        kind = together(kind, _KINDS.get(found, ColumnKind.TEXT))
    if kind in {ColumnKind.INTEGER, ColumnKind.NUMBER}:
        return together(kind, _size_of([value for value in values if type(value) is int]))
    return kind


def _size_of(whole: Sequence[int]) -> ColumnKind:
    if not whole:
        return ColumnKind.NOTHING
    low, high = min(whole), max(whole)
    if low >= -_EXACT and high <= _EXACT:
        return ColumnKind.INTEGER
    return ColumnKind.LARGE if low >= -_LARGEST and high < _LARGEST else ColumnKind.TEXT


def together(before: ColumnKind, now: ColumnKind) -> ColumnKind:
    """The narrowest kind that holds the values of both."""
    if ColumnKind.NOTHING in {before, now} or before is now:
        return max(before, now)
    return _WIDER.get(frozenset({before, now}), ColumnKind.TEXT)


def as_kind(values: Sequence[Any], kind: ColumnKind) -> Sequence[Any]:
    """The values, converted to text for a TEXT column."""
    if kind is not ColumnKind.TEXT or set(map(type, values)) <= {str, type(None)}:
        return values
    return [None if value is None else cell_text(value) for value in values]
