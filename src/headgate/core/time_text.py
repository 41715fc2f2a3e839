"""Times and spans of time as text: one form of each, for commands, settings, files and the API."""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

SPANS = "90s, 5m, 2h, 30d or 2w"
"""Examples for messages."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_UNITS_S = {"s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_SPAN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*")
_LONGEST_S = 100 * 366 * _UNITS_S["d"]


def parse_span(text: str) -> float:
    """The seconds in a span of time: `90s`, `5m` or `5min`, `2h`, `30d`, `2w`."""
    match = _SPAN.fullmatch(text.lower())
    unit_s = match and _UNITS_S.get(match[2])
    if match is None or unit_s is None:
        raise ValueError(f"{text.strip()!r} is not a span of time: write {SPANS}")
    seconds = float(match[1]) * unit_s
    if not 0 < seconds <= _LONGEST_S:
        raise ValueError(f"{text.strip()!r} is not a span of time between 0 and a hundred years")
    return seconds


def as_microseconds(seconds: float) -> int:
    """A time of the ledger's clock, which counts seconds, as stores keep times."""
    return round(seconds * 1_000_000)


def moment(microseconds: int | None) -> str | None:
    """A stored time in ISO 8601, in UTC. Stores keep 0 for a time that is not known."""
    return stamp(microseconds) if microseconds else None


def microseconds_of(text: str) -> int:
    """A time in ISO 8601 as stores keep it, or ValueError. Without an offset it is UTC."""
    at = datetime.fromisoformat(text)
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND


def stamp(microseconds: int) -> str:
    second, rest = divmod(microseconds, 1_000_000)
    return f"{_second(second)}.{rest:06}Z"


@lru_cache(maxsize=4_096)
def _second(second: int) -> str:
    # Records hold the times of many steps, and most of them share their second with others.
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
