"""From what a handler gave back to an outcome and to stored text."""

from collections.abc import Mapping
from math import isnan
from typing import Any

import msgspec

from headgate.core.fault import Fault, FaultClass
from headgate.core.outcome import Done, GiveUp, NotFound, Outcome, RetryLater, Review, Skipped

_encode = msgspec.json.Encoder().encode
OUTCOMES = (Done, NotFound, Skipped, Review, RetryLater, GiveUp)


def outcome_of(returned: object) -> Outcome | Fault:
    """Read a handler's return value: a mapping is a result, an outcome is itself."""
    if isinstance(returned, Mapping):
        return Done(returned)
    if isinstance(returned, OUTCOMES):
        problem = _problem_of(returned)
        return Fault(FaultClass.INVALID_RESULT, problem) if problem else returned
    if returned is None:
        return Done()
    reason = f"the handler returned {type(returned).__name__}: return a dict or an outcome"
    return Fault(FaultClass.INVALID_RESULT, reason)


def _problem_of(outcome: Any) -> str | None:
    """What is wrong with an outcome that was made with values of another kind."""
    match outcome:
        case Done(result) if not isinstance(result, Mapping):
            return f"the handler returned Done({type(result).__name__}): its result is a dict"
        case Review(candidates) if not isinstance(candidates, list | tuple):
            return f"the handler returned Review({type(candidates).__name__}): it takes a list"
        case RetryLater(after) if not isinstance(after, int | float) or isnan(after):
            return f"the handler returned RetryLater({after!r}): it takes seconds"
        case _:
            return None


def stored_text(outcome: Outcome | Fault, max_bytes: int) -> tuple[str | None, Fault | None]:
    """The JSON text to keep for an outcome, or the fault that keeps it from being stored."""
    match outcome:
        case Done(result):
            value: object = result
        case Review(candidates):
            value = {"candidates": candidates}
        case _:
            return None, None
    return encode_result(value, max_bytes)


def encode_result(value: object, max_bytes: int) -> tuple[str | None, Fault | None]:
    """JSON text of a value, or the fault that it deserves."""
    try:
        text = _encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        return None, Fault(FaultClass.INVALID_RESULT, f"the result is not JSON: {error}")
    if len(text) > max_bytes:
        reason = f"the result has {len(text):,} bytes, more than the {max_bytes:,} allowed"
        return None, Fault(FaultClass.INVALID_RESULT, reason)
    return text.decode(), None


def result_columns(outcome: Outcome | Fault) -> Mapping[str, Any] | None:
    """The mapping whose names become columns, if there is one."""
    return outcome.result if isinstance(outcome, Done) else None
