"""Reads a reply: columns of the result, nothing found, or candidates for a review."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.core.errors import UsageError
from headgate.core.outcome import Done, NotFound, Outcome, Review
from headgate.core.url import short_url
from headgate.handlers.lookup.description import Column, Description, ReviewWhen
from headgate.handlers.words.expression import Expression, UnreadableExpression
from headgate.ports.http import Response

MOST_COLUMNS = 500
MOST_CANDIDATES = 100
_decode = msgspec.json.Decoder().decode


class ReplyReader:
    def __init__(self, description: Description) -> None:
        self._as_text = description.reply == "text"
        self._statuses = frozenset(description.not_found.statuses)
        empty = description.not_found.empty
        self._found = Expression(empty, "not_found.empty") if empty else None
        self._review = _Choice(description.review) if description.review else None
        self._columns = {
            name: _source(column, f"columns.{name}")
            for name, column in _checked(description.columns).items()
        }
        sources = [source for source in self._columns.values() if isinstance(source, Expression)]
        self._needs_value = bool(sources or self._found or self._review)
        self.paths = {
            name: source.text
            for name, source in self._columns.items()
            if isinstance(source, Expression)
        }

    def outcome(self, reply: Response) -> Outcome:
        """Return the outcome of a row; raise BadStatus for a status that is an error."""
        if reply.status_code in self._statuses:
            return NotFound(f"{short_url(reply.url)} answered {reply.status_code}")
        reply.raise_for_status()
        value = self.value(reply) if self._needs_value else None
        if self._found is not None and not self._found.holds(value):
            return NotFound(f"{short_url(reply.url)} has nothing in {self._found.text}")
        review = self._review.of(value) if self._review else None
        return review or Done(
            {name: _read_value(source, value, reply) for name, source in self._columns.items()}
        )

    def value(self, reply: Response) -> Any:
        """Return the value that expressions see; UnreadableExpression if the reply is not JSON."""
        if self._as_text:
            return {"text": reply.text}
        if reply.status_code == 204:
            return None
        try:
            return _json(reply.content)
        except (ValueError, RecursionError):
            kind = reply.headers.get("content-type", "of no type")[:80]
            raise UnreadableExpression(
                f"{short_url(reply.url)} answered {reply.status_code} with a body that is not JSON"
                f' ({kind}); if the reply is text, write reply = "text"',
            ) from None


class _Choice:
    """Finds the candidates that a person may choose from."""

    def __init__(self, review: ReviewWhen) -> None:
        self._candidates = Expression(review.candidates, "review.candidates")
        self._when = Expression(review.when, "review.when") if review.when else None
        self._id = Expression(review.id, "review.id")
        self._name = Expression(review.name, "review.name")
        self._score = Expression(review.score, "review.score")
        self._columns = {
            name: Expression(path, f"review.columns.{name}")
            for name, path in _checked(review.columns, "review.columns").items()
        }

    def of(self, value: Any) -> Review | None:
        found = self._candidates.of(value)
        if not isinstance(found, list):
            raise UnreadableExpression(
                f"review.candidates: {self._candidates.text!r} does not give a list, but"
                f" {type(found).__name__}",
            )
        asked = self._when.holds(value) if self._when else len(found) > 1
        if not asked or not found:
            return None
        return Review([self._candidate(each) for each in found[:MOST_CANDIDATES]])

    def _candidate(self, each: Any) -> dict[str, Any]:
        return {
            "id": self._id.of(each),
            "name": self._name.of(each),
            "score": self._score.of(each),
            "result": {name: path.of(each) for name, path in self._columns.items()}
            or _plain_members(each),
        }


def _plain_members(value: Any) -> dict[str, Any]:
    members = value.items() if isinstance(value, Mapping) else ()
    return {name: member for name, member in members if not isinstance(member, dict | list)}


def _checked(columns: Mapping[str, Any], where: str = "columns") -> Mapping[str, Any]:
    if len(columns) > MOST_COLUMNS:
        raise UsageError(f"{where}: there are {len(columns)}, more than {MOST_COLUMNS}")
    for name in columns:
        if not name.isprintable() or name.startswith("_"):
            raise UsageError(
                f"{where}: {name!r} is not a column name: use printable characters, and no _ in"
                " front",
            )
    return columns


def _source(column: str | Column, where: str) -> Expression | Column:
    if isinstance(column, str):
        return Expression(column, where)
    if sum(map(bool, (column.path, column.header, column.status))) != 1:
        raise UsageError(f"{where}: give one of `path`, `header` and `status`")
    return Expression(column.path, where) if column.path else column


def _read_value(source: Expression | Column, value: Any, reply: Response) -> Any:
    if isinstance(source, Expression):
        return source.of(value)
    return reply.headers.get(source.header) if source.header else reply.status_code


def _json(content: bytes) -> Any:
    try:
        return _decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return json.loads(content)  # accepts NaN, a byte order mark, UTF-16
