"""Turns the return value of a handler into an outcome and stored text."""

import linecache
import os
import sys
from collections.abc import Mapping
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

import msgspec

from headgate.core.fault import Fault, FaultClass
from headgate.core.outcome import Done, GiveUp, NotFound, Outcome, RetryLater, Review, Skipped
from headgate.core.trace import Grounds, trace_of

_encode = msgspec.json.Encoder().encode
OUTCOMES = (Done, NotFound, Skipped, Review, RetryLater, GiveUp)


def outcome_of(returned: object) -> Outcome | Fault:
    """Read a handler's return value: a mapping is a result, an outcome is itself."""
    # Nearly every result is a plain dict, and comparing its type is much cheaper.
    if type(returned) is dict or isinstance(returned, Mapping):
        return Done(returned)
    if isinstance(returned, OUTCOMES):
        problem = _problem_of(returned)
        return Fault(FaultClass.INVALID_RESULT, problem) if problem else returned
    if returned is None:
        return Done()
    if isinstance(returned, type) and issubclass(returned, OUTCOMES):
        name = returned.__name__
        reason = f"the handler returned the class {name}: write {name}() with parentheses"
        return Fault(FaultClass.INVALID_RESULT, reason)
    reason = f"the handler returned {type(returned).__name__}: return a dict or an outcome"
    return Fault(FaultClass.INVALID_RESULT, reason)


def _problem_of(outcome: Outcome) -> str | None:
    """The error in an outcome whose values have wrong types; None if there is none."""
    # Python did not check the types when the handler made the outcome.
    values: dict[str, Any] = msgspec.structs.asdict(outcome)
    name = type(outcome).__name__
    if not isinstance(values.get("result", {}), Mapping):
        return f"the handler returned {name}: its result must be a dict"
    if not isinstance(values.get("candidates", ()), list | tuple):
        return f"the handler returned {name}: its candidates must be a list"
    after = values.get("after", 0)
    if not _is_seconds(after):
        shown = repr(after)[:80]
        return f"the handler returned {name}(after={shown}): `after` is seconds, such as 30"
    return None


def _is_seconds(value: object) -> bool:
    """True for a finite number; a negative one is a time in the past."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # an int that no float can hold
        return False


def stored_text(outcome: Outcome | Fault, max_bytes: int) -> tuple[str | None, Fault | None]:
    """The JSON text to store for an outcome, or the fault that prevents storing it."""
    if isinstance(outcome, Done):
        return encode_result(outcome.result, max_bytes)
    if isinstance(outcome, Review):
        return encode_result({"candidates": outcome.candidates}, max_bytes)
    if isinstance(outcome, RetryLater) or not outcome.result:
        return None, None
    return encode_result(outcome.result, max_bytes)


def encode_result(value: object, max_bytes: int) -> tuple[str | None, Fault | None]:
    """JSON text of a value, or a fault if it has none or is too large."""
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
    return None if isinstance(outcome, Review | RetryLater) else outcome.result or None


def traced(error: BaseException) -> str | None:
    """The trace of an exception as JSON, or None if no frame of it is in the user's code."""
    try:
        trace = trace_of(error, _trace_grounds(tuple(sys.path)))
    except Exception:  # noqa: BLE001  an exception class is foreign code and may raise itself
        return None
    return None if trace is None else msgspec.json.encode(trace).decode()


@cache
def _trace_grounds(imported_from: tuple[str, ...]) -> Grounds:
    try:
        project = str(Path.cwd())
    except OSError:  # the folder is gone
        project = ""
    return Grounds(
        headgate=_clean(str(Path(__file__).parents[1])),
        interpreter=_clean(str(Path(os.__file__).parent)),
        project=_clean(project),
        code_at=linecache.getline,
        roots=tuple(_clean(root) for root in imported_from if Path(root).is_absolute()),
    )


def _clean(path: str) -> str:
    return path.replace("\\", "/").rstrip("/")
