"""Stored times as text."""

from datetime import UTC, datetime


def moment(microseconds: int | None) -> str | None:
    """A stored time as ISO 8601 in UTC."""
    return None if microseconds is None else stamp(microseconds)


def stamp(microseconds: int) -> str:
    """The same of a time that is there."""
    at = datetime.fromtimestamp(microseconds / 1_000_000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
