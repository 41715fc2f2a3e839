"""Stored times as text."""

from datetime import UTC, datetime
from functools import lru_cache


def moment(microseconds: int | None) -> str | None:
    """A stored time as ISO 8601 in UTC."""
    return None if microseconds is None else stamp(microseconds)


def stamp(microseconds: int) -> str:
    """A stored time, never None, as ISO 8601 in UTC."""
    second, rest = divmod(microseconds, 1_000_000)
    return f"{_second(second)}.{rest // 1_000:03}Z"


@lru_cache(maxsize=4_096)
def _second(second: int) -> str:
    # Records hold the times of many steps, and most steps share their second with others.
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
