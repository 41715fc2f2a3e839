"""Failures, sorted by what should be done about them."""

from enum import StrEnum

import msgspec


class FaultClass(StrEnum):
    """Why an item failed or had to wait; stored on the item and on the attempt."""

    TRANSIENT = "transient"
    THROTTLED = "throttled"
    PERMANENT = "permanent"
    TIMEOUT = "timeout"
    STALLED = "stalled"
    POISON = "poison"
    INVALID_RESULT = "invalid_result"
    BAD_ROW = "bad_row"


class Fault(msgspec.Struct, frozen=True):
    """One classified failure."""

    kind: FaultClass
    reason: str
    retry_after_s: float | None = None


REASON_LIMIT = 2_000


def of_exception(error: BaseException) -> Fault:
    """What an exception out of a handler means: worth another try unless it says otherwise."""
    reason = f"{type(error).__name__}: {error}"[:REASON_LIMIT]
    if isinstance(error, TimeoutError):
        return Fault(FaultClass.TIMEOUT, reason)
    return Fault(FaultClass.TRANSIENT, reason)
