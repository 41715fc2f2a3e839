"""Templates: texts with `{column}` placeholders."""

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from headgate.core.errors import UsageError
from headgate.core.fault import AttemptOver, Fault, FaultClass

Row = Mapping[str, Any]
_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
EXACT = 2**53
"""Above this, a float cannot represent every whole number."""
_encode = msgspec.json.Encoder().encode


class Unasked(AttemptOver):
    """The row is unusable for the request, and no retry will change that."""

    def __init__(self, reason: str) -> None:
        super().__init__(Fault(FaultClass.PERMANENT, reason))


class NoValue(Unasked):
    """A column that the request needs has no value in this row."""


class Placeholder(NamedTuple):
    """A placeholder for a value of the row; one with a question mark may be empty or missing."""

    column: str
    optional: bool

    def value(self, row: Row, where: str) -> Any:
        """Return the value; None if it is empty and optional, else NoValue."""
        value = row.get(self.column)
        if value is not None and not (isinstance(value, str) and not value.strip()):
            return value
        if self.optional:
            return None
        if self.column not in row:
            raise NoValue(f"{where}: the row has no column {self.column!r}{_others(self, row)}")
        raise NoValue(f"{where}: the column {self.column!r} is empty")

    def text(self, row: Row, where: str) -> str:
        """Return the value as text; empty if it is empty and optional."""
        value = self.value(row, where)
        if isinstance(value, str):
            return value
        if value is None:
            return ""
        if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
            return str(int(value))  # many tools write 12.0 for 12 in a column with gaps
        if isinstance(value, bool | int | float):
            return _encode(value).decode()
        raise Unasked(f"{where}: the column {self.column!r} holds a list or an object, not a text")


Part = str | Placeholder


class Template(NamedTuple):
    parts: Sequence[Part]
    where: str

    @property
    def placeholders(self) -> list[Placeholder]:
        return [part for part in self.parts if isinstance(part, Placeholder)]

    @property
    def alone(self) -> Placeholder | None:
        if len(self.parts) == 1 and isinstance(self.parts[0], Placeholder):
            return self.parts[0]
        return None

    def text(self, row: Row) -> str:
        return "".join(
            part if isinstance(part, str) else part.text(row, self.where) for part in self.parts
        )

    def wanted(self, row: Row) -> str | None:
        """Return the text; None if the template is one placeholder and its value is empty."""
        return self.text(row) or (None if self.alone else "")

    def value(self, row: Row) -> Any:
        """Return the text; a single placeholder returns its value with its type."""
        return self.alone.value(row, self.where) if self.alone else self.text(row)


def parse_template(text: str, where: str) -> Template:
    """Compile a text; UsageError if its braces do not match."""
    parts: list[Part] = []
    end = 0
    for token in _TOKEN.finditer(text):
        _append(parts, text[end : token.start()])
        end = token.end()
        if token[0] in {"{{", "}}"}:
            _append(parts, token[0][0])
        elif token[1] is None:
            raise UsageError(
                f"{where}: a single {token[0]}; write {{column}}, or {token[0] * 2} for a"
                " brace itself",
            )
        else:
            parts.append(_placeholder(token[1], where))
    _append(parts, text[end:])
    return Template(tuple(parts), where)


def _append(parts: list[Part], text: str) -> None:
    """Join adjacent texts."""
    if text and parts and isinstance(parts[-1], str):
        parts[-1] += text
    elif text:
        parts.append(text)


def _placeholder(inside: str, where: str) -> Placeholder:
    column = inside.removesuffix("?")
    if not column.strip():
        raise UsageError(f"{where}: {{{inside}}} names no column")
    return Placeholder(column, optional=inside.endswith("?"))


def _others(placeholder: Placeholder, row: Row) -> str:
    known = {name.casefold(): name for name in row}
    close = difflib.get_close_matches(placeholder.column.casefold(), known, 1)
    if close:
        return f"; did you mean {known[close[0]]!r}?"
    return f"; it has {', '.join(list(row)[:20])}" if row else "; it has none"
