"""Stamps of a source: which is the newest, and where the next pass begins."""

from collections.abc import Iterable
from datetime import UTC
from email.utils import parsedate_to_datetime

from headgate.core.ordering import MICROSECONDS
from headgate.core.time_text import microseconds_of, parse_span, stamp


def newest(stamps: Iterable[str | None]) -> str | None:
    """The newest of the stamps; numbers are compared as numbers and times as times."""
    found = [each for each in stamps if each]
    return max(found, key=_order, default=None)


def since(watermark: str, lag: str | float) -> str:
    """The stamp from which to ask: the watermark itself, or earlier by the lag.

    For numbers the lag is a number; for times it is a span such as `5m`, or seconds.
    """
    if not lag:
        return watermark
    number = _number(watermark)
    if number is not None:
        less = number - (parse_span(lag) if isinstance(lag, str) else lag)
        return str(int(less)) if less == int(less) else str(less)
    seconds = parse_span(lag) if isinstance(lag, str) else lag
    earlier = stamp(microseconds_of(watermark) - round(seconds * MICROSECONDS))
    return _like(earlier, watermark)


def stamp_of_date(header: str) -> str:
    """The `Date` header of a reply as a stamp; ValueError if it has no time."""
    return parsedate_to_datetime(header).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def stamp_text(value: object) -> str | None:
    """A stamp as it is kept; None if a row has none."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return str(value)


def _order(text: str) -> tuple[int, float, str]:
    number = _number(text)
    if number is not None:
        return 1, number, text
    try:
        return 2, microseconds_of(text), text
    except ValueError:
        return 0, 0, text


def _number(text: str) -> float | None:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return None


def _like(earlier: str, watermark: str) -> str:
    """A time in the form of another: without a zone if that has none, and as precise."""
    text = earlier if "." in watermark else f"{earlier[:19]}Z"
    zoned = watermark.endswith("Z") or "+" in watermark or watermark[10:].count("-")
    return text if zoned else text.removesuffix("Z")
