"""Turns rows of a source into items: key, gate and summary of each, and the bad rows."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import islice, repeat
from typing import Any

import msgspec

from headgate.core.errors import BadSource
from headgate.core.fault import AttemptOver
from headgate.core.item import NewItem
from headgate.ports.handler import HandlerSpec
from headgate.ports.source import RowBatch

SUMMARY_VALUES = 3
SUMMARY_LIMIT = 80
NO_GATE = "-"
"""The gate of a row for which `gate_of` returns none. Items without a gate are claimed last."""
KEY_LIMIT = 400
"""Characters. A longer key is cut and gets a hash, because databases limit index entries."""

GateOf = Callable[[Mapping[str, Any]], str]
"""Returns the gate of a row, from its values."""

_encode = msgspec.json.Encoder().encode


class OnBadRow(StrEnum):
    """What becomes of a row that cannot be used."""

    FAIL = "fail"
    SKIP = "skip"
    ITEM_ERROR = "item-error"


class BadRow(msgspec.Struct, frozen=True):
    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


class MadeItems(msgspec.Struct, frozen=True):
    """The items of a batch, and its bad rows (which are among the items only if kept as errors)."""

    items: Sequence[NewItem]
    bad: Sequence[BadRow] = ()


class ItemMaker:
    """Makes items from rows. The key of a bad row cannot be trusted, so it gets a generated one."""

    def __init__(
        self, key_columns: Sequence[str], handler: HandlerSpec | None, on_bad_row: OnBadRow
    ) -> None:
        self._key_columns = tuple(key_columns)
        self._key_of = handler.key_of if handler and not key_columns else None
        self._gate_of = handler.gate_of if handler else None
        self._on_bad_row = on_bad_row

    @property
    def keyed(self) -> bool:
        """True if rows have keys, so that one key may come twice."""
        return bool(self._key_columns or self._key_of)

    def make(self, batch: RowBatch) -> MadeItems:
        """The items of a batch; with OnBadRow.FAIL, a bad row raises BadSource."""
        problems = dict(batch.problems)
        keys = self._keys(batch, problems)
        gates = self._gates(batch, problems)
        summaries = map(summary_of, batch.values)
        items = list(map(NewItem, keys, batch.texts, batch.lines, gates, summaries))
        return self._sorted_out(items, problems) if problems else MadeItems(items)

    def duplicate(self, item: NewItem, first_line: int) -> tuple[NewItem | None, BadRow | None]:
        """The item for a row whose key an earlier row has, and the bad row if that is an error."""
        if self._key_of is not None:
            same = self._as_error(item, f"the same as line {first_line}")
            return msgspec.structs.replace(same, duplicate=True), None
        bad = self._reported(BadRow(item.line, f"duplicate key, first seen in line {first_line}"))
        kept = self._on_bad_row is OnBadRow.ITEM_ERROR
        return self._as_error(item, bad.reason) if kept else None, bad

    def _keys(self, batch: RowBatch, problems: dict[int, str]) -> Iterable[str]:
        if not self.keyed:
            return map(str, range(batch.first_row, batch.first_row + len(batch.values)))
        keys = []
        for index, values in enumerate(batch.values):
            key, problem = self._key(values)
            if problem:
                problems.setdefault(index, problem)
            keys.append(key)
        return keys

    def _key(self, values: Mapping[str, Any]) -> tuple[str, str | None]:
        if self._key_of is None:
            return key_of(values, self._key_columns)
        try:
            return bounded_key(str(self._key_of(values))), None
        except AttemptOver as error:
            return "", str(error)
        except Exception as error:  # noqa: BLE001  the handler's code may raise anything
            return "", f"key_of raised {type(error).__name__}: {error}"

    def _gates(self, batch: RowBatch, problems: dict[int, str]) -> Iterable[str]:
        if self._gate_of is None:
            return repeat("", len(batch.values))
        gates = []
        for index, values in enumerate(batch.values):
            gate, problem = NO_GATE, None
            if index not in problems:
                gate, problem = gate_in(values, self._gate_of)
            if problem:
                problems[index] = problem
            gates.append(gate)
        return gates

    def _sorted_out(self, items: list[NewItem], problems: Mapping[int, str]) -> MadeItems:
        bad = [
            self._reported(BadRow(items[index].line, problems[index])) for index in sorted(problems)
        ]
        if self._on_bad_row is OnBadRow.SKIP:
            return MadeItems(
                [item for index, item in enumerate(items) if index not in problems], bad
            )
        for index, problem in problems.items():
            items[index] = self._as_error(items[index], problem)
        return MadeItems(items, bad)

    def _as_error(self, item: NewItem, problem: str) -> NewItem:
        # Once the row is corrected, its key must still be free. A key by position is never shared.
        key = f"{item.key}#{item.line}" if self.keyed else item.key
        return msgspec.structs.replace(item, key=key, problem=problem)

    def _reported(self, bad: BadRow) -> BadRow:
        if self._on_bad_row is OnBadRow.FAIL:
            raise BadSource(str(bad))
        return bad


def gate_in(values: Mapping[str, Any], gate_of: GateOf) -> tuple[str, str | None]:
    """The gate of a row, and the reason if it has none."""
    try:
        return str(gate_of(values)) or NO_GATE, None
    except Exception as error:  # noqa: BLE001  the user's code may raise anything
        return NO_GATE, f"gate_of raised {type(error).__name__}: {error}"


def key_of(values: Mapping[str, Any], columns: Sequence[str]) -> tuple[str, str | None]:
    """The key of a row (several columns as a JSON array), or the reason if it has none."""
    try:
        parts = [values[column] for column in columns]
    except KeyError as missing:
        return "", f"no value for the key column {missing}"
    if all(part is None or part == "" for part in parts):
        return "", f"the key is empty ({', '.join(columns)})"
    if len(parts) == 1 and isinstance(parts[0], str):
        key: str = parts[0]
    else:
        key = _encode(parts[0] if len(parts) == 1 else parts).decode()
    return bounded_key(key), None


def bounded_key(key: str) -> str:
    """The key, or a shortened key with a hash if it is too long for an index."""
    if len(key) <= KEY_LIMIT and "\0" not in key:
        return key
    digest = hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
    return f"{key[:KEY_LIMIT].replace(chr(0), ' ')}~{digest}"


def summary_of(values: Mapping[str, Any]) -> str:
    """A few words by which a person recognises a row; empty values are left out."""
    first = tuple(islice(values.values(), SUMMARY_VALUES))
    if "" in first or None in first:
        first = tuple(value for value in first if value not in ("", None))
    try:
        text = " · ".join(first)
    except TypeError:
        text = " · ".join(map(_word, first))
    text = text[:SUMMARY_LIMIT]
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def _word(value: object) -> str:
    return value if isinstance(value, str) else _encode(value).decode()
