"""Reads the rows of a reply. Bodies are kept as they were received where that is possible."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import msgspec

from headgate.core.url import short_url
from headgate.core.watermark import stamp_text
from headgate.handlers.extract.description import Resource
from headgate.handlers.extract.pages import BadPage
from headgate.handlers.words.expression import Expression
from headgate.handlers.words.paths import path_expression, plain_steps
from headgate.ports.http import Response

Getter = Callable[[Mapping[str, Any]], Any]
_decode: Final = msgspec.json.Decoder().decode
_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_list: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
_encode: Final = msgspec.json.Encoder().encode
_canonical: Final = msgspec.json.Encoder(order="sorted").encode
_PARENT: Final = "_parent."
CONTENT: Final = "_content"
"""The primary key of rows that no field identifies: a row with another content is another row."""
SHOWN = 12


class ReadRow(NamedTuple):
    id: str
    body: msgspec.Raw
    value: Mapping[str, Any]
    hash: str
    stamp: str | None
    deleted: bool


class Document:
    """A reply: its rows as received, and the whole as a value for expressions."""

    def __init__(self, reply: Response, raws: list[msgspec.Raw], values: Sequence[Any]) -> None:
        self._reply = reply
        self._rest: Mapping[str, msgspec.Raw] = {}
        self._step = ""
        self.raws = raws
        self.values = values

    def beside(self, rest: Mapping[str, msgspec.Raw], step: str) -> "Document":
        """The members beside the list, so that the rows need not be decoded twice."""
        self._rest, self._step = rest, step
        return self

    def value(self) -> Any:
        if not self._step:
            return _decode(self._reply.content)
        found = {name: _decode(raw) for name, raw in self._rest.items() if name != self._step}
        return {**found, self._step: list(self.values)}


class RowReader:
    def __init__(self, resource: Resource, *, is_single: bool) -> None:
        name, endpoint = resource.name, resource.endpoint
        self._name = name
        selector = endpoint.data_selector.strip()
        self._selector = (
            path_expression(selector, f"{name}.endpoint.data_selector") if selector else None
        )
        self._steps = plain_steps(self._selector) if self._selector else ()
        self._is_single = is_single
        keys = resource.primary_key
        self._key_names = (keys,) if isinstance(keys, str) else keys
        where = f"{name}.primary_key"
        self._ignore = frozenset(resource.ignore)
        self._keys = [
            None if key.startswith(_PARENT) else self._key_getter(key, where)
            for key in keys_of(keys)
        ]
        changed = endpoint.incremental
        stamp = resource.updated or (changed.cursor_path if changed else "")
        self._stamp = getter(stamp, f"{name}.updated") if stamp else None
        self._deleted = (
            path_expression(resource.deleted, f"{name}.deleted") if resource.deleted else None
        )

    def document(self, reply: Response) -> Document:
        """The listing in a reply; BadPage if there is none."""
        try:
            return self._document(reply)
        except msgspec.DecodeError:
            pass
        except RecursionError:
            raise BadPage("the reply is nested too deeply") from None
        raise self._no_listing(reply)

    def rows(
        self, document: Document, parent: Mapping[str, Any], extra: Mapping[str, Any]
    ) -> list[ReadRow]:
        """The rows of a page; BadPage if one has no id, or two have the same one."""
        found: dict[str, ReadRow] = {}
        for number, (raw, value) in enumerate(zip(document.raws, document.values, strict=True), 1):
            row = self.row(raw, value, parent, extra, number)
            other = found.setdefault(row.id, row)
            if other is not row and other.hash != row.hash:
                raise BadPage(
                    f"two rows of the page have the id {row.id!r} and differ otherwise: the"
                    f" primary_key ({', '.join(self._key_names)}) is not unique; name more fields"
                )
        return list(found.values())

    def row(
        self,
        raw: msgspec.Raw,
        value: Any,
        parent: Mapping[str, Any],
        extra: Mapping[str, Any],
        number: int = 1,
    ) -> ReadRow:
        if type(value) is not dict:
            raise BadPage(f"row {number} of the page is not an object but {type(value).__name__}")
        key = self._id(value, parent, number)
        if extra:
            value = {**value, **extra}
            raw = msgspec.Raw(_encode(value))
        return ReadRow(
            key,
            raw,
            value,
            row_hash(value, self._ignore),
            stamp_text(self._stamp(value)) if self._stamp else None,
            self._deleted is not None and self._deleted.holds(value),
        )

    def _document(self, reply: Response) -> Document:
        content = reply.content
        if self._steps is None or (not self._steps and self._selector is not None):
            return self._selected(reply)
        if not self._steps:
            if self._is_single and content.lstrip()[:1] == b"{":
                return Document(reply, [msgspec.Raw(content)], [_decode(content)])
            return _document_of(reply, _list(content))
        members: Mapping[str, msgspec.Raw] = {}
        raw = msgspec.Raw(content)
        for step in self._steps:
            members = _members(raw)
            if step not in members:
                raise self._no_listing(reply)
            raw = members[step]
        if self._is_single and bytes(raw).lstrip()[:1] == b"{":
            return Document(reply, [raw], [_decode(raw)])
        document = _document_of(reply, _list(raw))
        return document.beside(members, self._steps[0]) if len(self._steps) == 1 else document

    def _selected(self, reply: Response) -> Document:
        whole = _decode(reply.content)
        values = self._selector.of(whole) if self._selector else whole
        if isinstance(values, dict) and self._is_single:
            values = [values]
        if not isinstance(values, list):
            raise self._no_listing(reply)
        return Document(reply, [msgspec.Raw(_encode(value)) for value in values], values)

    def _id(self, value: Mapping[str, Any], parent: Mapping[str, Any], number: int) -> str:
        parts = [
            parent.get(name.removeprefix(_PARENT)) if get is None else get(value)
            for name, get in zip(self._key_names, self._keys, strict=True)
        ]
        for name, part in zip(self._key_names, parts, strict=True):
            if type(part) is not int and (type(part) is not str or not part):
                raise self._no_id(name, part, value, number)
        return str(parts[0]) if len(parts) == 1 else _encode(parts).decode()

    def _key_getter(self, key: str, where: str) -> Getter:
        if key == CONTENT:
            return lambda value: row_hash(value, self._ignore)
        return getter(key, where)

    def _no_id(self, name: str, part: Any, value: Mapping[str, Any], number: int) -> BadPage:
        has = ", ".join(list(value)[:SHOWN]) or "no fields"
        what = "has no" if part is None or part == "" else f"has {_shown(part)} as"
        return BadPage(
            f"row {number} of the page {what} {name!r}, which is the primary_key of"
            f" {self._name}; the row has {has}. Name the field that identifies a row"
        )

    def _no_listing(self, reply: Response) -> BadPage:
        where = f"{short_url(reply.url)} answered {reply.status_code}"
        try:
            value = _decode(reply.content)
        except (msgspec.DecodeError, RecursionError):
            kind = reply.headers.get("content-type", "of no type")[:80]
            return BadPage(f"{where} with a body that is not JSON ({kind}); check the path")
        wanted = f"no list at {self._selector.text!r}" if self._selector else "no list"
        if not isinstance(value, dict):
            return BadPage(f"{where} with {wanted} but {type(value).__name__}")
        lists = [name for name, each in value.items() if isinstance(each, list)]
        hint = (
            f"set data_selector to {' or '.join(map(repr, lists[:SHOWN]))}"
            if lists
            else "this may be an error of the source; see response_actions"
        )
        return BadPage(
            f"{where} with {wanted}; it has {', '.join(list(value)[:SHOWN]) or 'nothing'}: {hint}"
        )


def keys_of(keys: str | Sequence[str]) -> Sequence[str]:
    return (keys,) if isinstance(keys, str) else keys


def getter(path: str, where: str) -> Getter:
    """A function that reads a path in a row."""
    expression = path_expression(path, where)
    steps = plain_steps(expression)
    if steps is not None and len(steps) == 1:
        name = steps[0]
        return lambda value: value.get(name)
    return expression.of


def expression_of(text: str | None, where: str) -> Expression | None:
    return path_expression(text, where) if text else None


def row_hash(value: Mapping[str, Any], ignore: frozenset[str]) -> str:
    """The hash of a row, the same for any order of its fields."""
    if ignore:
        value = {name: each for name, each in value.items() if name not in ignore}
    return blake2b(_canonical(value), digest_size=16).hexdigest()


def _document_of(reply: Response, raws: list[msgspec.Raw]) -> Document:
    return Document(reply, raws, [_decode(raw) for raw in raws])


def _shown(value: Any) -> str:
    return repr(value)[:60]
