"""The columns of a Parquet file that is being written: their types follow what they hold."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from headgate.transfer.formats.cells import cell_text


class Kind(IntEnum):
    """What a column holds; TEXT holds everything."""

    NOTHING = 0
    BOOLEAN = 1
    INTEGER = 2
    LARGE = 3
    """Whole numbers some of which a NUMBER would round."""
    NUMBER = 4
    TEXT = 5


_EXACT = 2**53
_LARGEST = 2**63
_KINDS = {type(None): Kind.NOTHING, bool: Kind.BOOLEAN, int: Kind.INTEGER, float: Kind.NUMBER}
_WIDER = {
    frozenset({Kind.INTEGER, Kind.LARGE}): Kind.LARGE,
    frozenset({Kind.INTEGER, Kind.NUMBER}): Kind.NUMBER,
}


def kind_of(values: Sequence[Any]) -> Kind:
    """The kind that holds all values as they are, or TEXT."""
    kind = Kind.NOTHING
    for found in set(map(type, values)):
        kind = together(kind, _KINDS.get(found, Kind.TEXT))
    if kind in {Kind.INTEGER, Kind.NUMBER}:
        return together(kind, _size_of([value for value in values if type(value) is int]))
    return kind


def _size_of(whole: Sequence[int]) -> Kind:
    if not whole:
        return Kind.NOTHING
    low, high = min(whole), max(whole)
    if low >= -_EXACT and high <= _EXACT:
        return Kind.INTEGER
    return Kind.LARGE if low >= -_LARGEST and high < _LARGEST else Kind.TEXT


def together(before: Kind, now: Kind) -> Kind:
    """The kind that holds what both hold."""
    if Kind.NOTHING in {before, now} or before is now:
        return max(before, now)
    return _WIDER.get(frozenset({before, now}), Kind.TEXT)


def as_kind(values: Sequence[Any], kind: Kind) -> Sequence[Any]:
    """The values as a column of that kind takes them."""
    if kind is not Kind.TEXT or set(map(type, values)) <= {str, type(None)}:
        return values
    return [None if value is None else cell_text(value) for value in values]
