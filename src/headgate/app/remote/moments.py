"""Moments of the wire as stores keep them."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def stored(at: datetime) -> int:
    """In UTC microseconds."""
    return (at - _EPOCH) // _MICROSECOND


def stored_or_none(at: datetime | None) -> int | None:
    """In UTC microseconds, if there is one."""
    return None if at is None else stored(at)


def stored_or_zero(at: datetime | None) -> int:
    """In UTC microseconds; 0 stands for no moment at all."""
    return 0 if at is None else stored(at)


def ledger_s(at: datetime | None) -> float | None:
    """In UTC seconds, as gates count them."""
    return None if at is None else stored(at) / 1_000_000
