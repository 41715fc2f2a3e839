"""Failures, classified by what to do about them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from headgate.core.errors import HeadgateError
from headgate.core.outcome import Outcome


class FaultClass(StrEnum):
    """Why an item failed or had to wait; stored on the item and on the attempt."""

    TRANSIENT = "transient"
    THROTTLED = "throttled"
    DEFERRED = "deferred"
    PERMANENT = "permanent"
    TIMEOUT = "timeout"
    STALLED = "stalled"
    CRASHED = "crashed"
    POISON = "poison"
    INVALID_RESULT = "invalid_result"
    BAD_ROW = "bad_row"


class Fault(msgspec.Struct, frozen=True):
    kind: FaultClass
    reason: str
    retry_after_s: float | None = None
    gate: str | None = None
    """The gate that refused the item; the item waits for it."""
    result: Mapping[str, Any] = {}
    """The result to store if this was the last attempt."""
    trace: str | None = None
    """Where in the user's code it came from: `core.trace.Trace` as JSON."""


REASON_LIMIT = 2_000


def is_retryable_status(status: int) -> bool:
    return status >= 500 or status in {408, 425}


def plain_text(reason: object) -> str:
    """A reason that every store accepts: bounded, and without NUL or unpaired surrogates."""
    return storable(str(reason)[:REASON_LIMIT])


def storable(text: str) -> str:
    """A text that every store accepts: without NUL or unpaired surrogates."""
    return text.replace("\0", "\\0").encode(errors="backslashreplace").decode()


def fault_of_exception(error: BaseException) -> Fault:
    """The fault of an exception from a handler: retried unless the exception says otherwise."""
    reason = error_text(error)
    if isinstance(error, TimeoutError):
        return Fault(FaultClass.TIMEOUT, reason)
    return Fault(FaultClass.TRANSIENT, reason)


def error_text(error: BaseException) -> str:
    words = _error_words(error)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _error_words(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  __str__ is user code
        return "(its message cannot be read)"


class AttemptOver(HeadgateError):
    """The code that raises this has decided what it means for the item."""

    code = ""
    """A stable code for statistics; empty if there is none."""

    def __init__(self, ending: Outcome | Fault) -> None:
        super().__init__(getattr(ending, "reason", ""))
        self.ending = ending


class JobHalted(HeadgateError):
    """No item of the job can run before a user has repaired something.

    The job pauses with this message, and the item goes back unchanged.
    """
