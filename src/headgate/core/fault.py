"""Failures, sorted by what should be done about them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

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
    gate: str | None = None
    """The gate that turned the item away, which it waits for."""
    result: Mapping[str, Any] = {}
    """What is worth keeping if this was the last attempt."""


REASON_LIMIT = 2_000


def worth_another_try(status: int) -> bool:
    """Whether the same request may well be answered later."""
    return status >= 500 or status in {408, 425}


def plain_text(reason: object) -> str:
    """A reason that every store can keep: bounded, and without NUL or half characters."""
    text = str(reason)[:REASON_LIMIT].replace("\0", "\\0")
    return text.encode(errors="backslashreplace").decode()


def of_exception(error: BaseException) -> Fault:
    """What an exception out of a handler means: worth another try unless it says otherwise."""
    reason = f"{type(error).__name__}: {_words_of(error)}"
    if isinstance(error, TimeoutError):
        return Fault(FaultClass.TIMEOUT, reason)
    return Fault(FaultClass.TRANSIENT, reason)


def _words_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  __str__ is somebody else's code
        return "(it cannot say what happened)"
