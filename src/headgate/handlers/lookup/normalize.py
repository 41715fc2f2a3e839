"""Values brought into the form that a service is asked with."""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from headgate.handlers.lookup.description import Step
from headgate.handlers.lookup.template import Row, Unasked

EVERY = "*"
"""Stands for all columns that have no steps of their own."""

_TEXT: Mapping[Step, Callable[[str], str]] = {
    Step.TRIM: str.strip,
    Step.LOWER: str.lower,
    Step.UPPER: str.upper,
    Step.COLLAPSE: lambda text: " ".join(text.split()),
    Step.NFC: lambda text: unicodedata.normalize("NFC", text),
}


class Normalizer:
    """Makes `item.normalized`: the columns that are asked with, in their normal form.

    Others are left out, so that rows that differ in them alone count as the same question.
    """

    def __init__(self, steps: Mapping[str, Sequence[Step]], columns: Sequence[str]) -> None:
        self._steps = {column: steps.get(column, steps.get(EVERY, ())) for column in columns}

    def __call__(self, row: Row) -> dict[str, Any]:
        """The normal form of a row; Unasked if a number is none."""
        return {
            column: _taken(row[column], steps, column)
            for column, steps in self._steps.items()
            if column in row
        }


def _taken(value: Any, steps: Sequence[Step], column: str) -> Any:
    for step in steps:
        if not isinstance(value, str):
            break
        value = _number(value, column) if step is Step.NUMBER else _TEXT[step](value)
    return value


def _number(text: str, column: str) -> int | float | str:
    """The number in a text; an empty text stays one, for a column may be left empty."""
    if not text.strip():
        return ""
    try:
        return msgspec.json.decode(text.strip(), type=int | float)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        raise Unasked(f"normalize.{column}: {text[:60]!r} is no number") from None
