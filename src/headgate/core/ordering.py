"""Keys and stamps of a source as values that can be compared here."""

import math
from enum import StrEnum
from typing import Any

from headgate.core.time_text import microseconds_of, stamp

MICROSECONDS = 1_000_000


class Compare(StrEnum):
    """How the keys of a source are ordered."""

    NUMBER = "number"
    TEXT = "text"
    """By code points."""
    TIME = "time"
    """ISO 8601, or seconds since 1970."""
    EQUAL = "equal"
    """By an order of the source that cannot be repeated here: only equal keys are recognised."""


Position = int | float | str


def position(value: Any, compare: Compare) -> Position:
    """The place of a key in its order, or ValueError."""
    if compare is Compare.NUMBER:
        return _number(value)
    if compare is Compare.TIME:
        return _time(value)
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise ValueError(f"{_shown(value)} is not a text")


def time_text(microseconds: float, *, unix: bool) -> str | int:
    """A time as a source reads it: whole seconds since 1970, or ISO 8601 in UTC."""
    if unix:
        return int(microseconds // MICROSECONDS)
    text = stamp(int(microseconds))
    return text.removesuffix(".000000Z") + "Z" if text.endswith(".000000Z") else text


def _number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{_shown(value)} is not a number")  # noqa: TRY004  one error for callers
    if isinstance(value, int):
        return value
    try:
        return int(value) if isinstance(value, str) else _finite(value)
    except ValueError:
        return _finite(float(value))


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a number that can be compared")
    return value


def _time(value: Any) -> int:
    if isinstance(value, str):
        return microseconds_of(value)
    return round(_number(value) * MICROSECONDS)


def _shown(value: Any) -> str:
    return repr(value)[:60]
