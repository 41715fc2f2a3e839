"""Normalization of values before they are sent to a service."""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from headgate.handlers.lookup.description import Step
from headgate.handlers.words.template import Row, Unasked

EVERY = "*"
"""The key for all columns that have no steps of their own."""

_TEXT: Mapping[Step, Callable[[str], str]] = {
    Step.TRIM: str.strip,
    Step.LOWER: str.lower,
    Step.UPPER: str.upper,
    Step.COLLAPSE: lambda text: " ".join(text.split()),
    Step.NFC: lambda text: unicodedata.normalize("NFC", text),
}


class Normalizer:
    """Makes `item.normalized`: the columns that the request uses, in their normal form.

    Other columns are left out, so that rows that differ only in them count as the same.
    """

    def __init__(self, steps: Mapping[str, Sequence[Step]], columns: Sequence[str]) -> None:
        self._steps = {column: steps.get(column, steps.get(EVERY, ())) for column in columns}

    def __call__(self, row: Row) -> dict[str, Any]:
        """Return the normal form of a row; Unasked if a value should be a number and is not."""
        return {
            column: _normalized(row[column], steps, column)
            for column, steps in self._steps.items()
            if column in row
        }


def _normalized(value: Any, steps: Sequence[Step], column: str) -> Any:
    for step in steps:
        if not isinstance(value, str):
            break
        value = _number(value, column) if step is Step.NUMBER else _TEXT[step](value)
    return value


def _number(text: str, column: str) -> int | float | str:
    """Parse a number; an empty text stays empty, because a column may be empty."""
    if not text.strip():
        return ""
    try:
        return msgspec.json.decode(text.strip(), type=int | float)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        raise Unasked(f"normalize.{column}: {text[:60]!r} is not a number") from None
