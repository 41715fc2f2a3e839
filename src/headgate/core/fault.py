"""Failures, sorted by what should be done about them."""

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
    """One classified failure."""

    kind: FaultClass
    reason: str
    retry_after_s: float | None = None
    gate: str | None = None
    """The gate that turned the item away, which it waits for."""
    result: Mapping[str, Any] = {}
    """What is worth keeping if this was the last attempt."""
    trace: str | None = None
    """Where in the user's code it came from: `core.trace.Trace` as JSON."""


REASON_LIMIT = 2_000


def worth_another_try(status: int) -> bool:
    """Whether the same request may well be answered later."""
    return status >= 500 or status in {408, 425}


def plain_text(reason: object) -> str:
    """A reason that every store can keep: bounded, and without NUL or half characters."""
    return storable(str(reason)[:REASON_LIMIT])


def storable(text: str) -> str:
    """A text that every store can keep: without NUL or half characters."""
    return text.replace("\0", "\\0").encode(errors="backslashreplace").decode()


def of_exception(error: BaseException) -> Fault:
    """What an exception out of a handler means: worth another try unless it says otherwise."""
    reason = error_in_words(error)
    if isinstance(error, TimeoutError):
        return Fault(FaultClass.TIMEOUT, reason)
    return Fault(FaultClass.TRANSIENT, reason)


def error_in_words(error: BaseException) -> str:
    """The class and the message of an exception."""
    words = _words_of(error)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _words_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  __str__ is somebody else's code
        return "(it cannot say what happened)"


class AttemptOver(HeadgateError):
    """Whatever raises this has already decided what it means for the item."""

    code = ""
    """The same in a word that does not change, for whoever counts; empty if it has none."""

    def __init__(self, ending: Outcome | Fault) -> None:
        super().__init__(getattr(ending, "reason", ""))
        self.ending = ending


class JobHalted(HeadgateError):
    """No item of the job can be worked on before somebody has repaired something.

    The job pauses with these words, and the item that met with it goes back as it came.
    """
