"""Builds what is committed with a settlement from an outcome: rows, follow-up items, a closing.

Python did not check the types when the handler made the outcome, so all of them are checked here:
one wrong value would make a whole commit fail.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec.structs import replace

from headgate.core.fault import Fault, FaultClass
from headgate.core.item import ClaimedItem
from headgate.core.json_types import add_types
from headgate.core.mirror import Attachment, Closing, FollowUp, MirrorRow, Proof
from headgate.core.outcome import Done, NotFound, Outcome, Review
from headgate.engine.job_runtime import JobRuntime
from headgate.engine.rows import bounded_key, gate_in

ROW_ID_LIMIT = 1_000
"""Characters. Databases limit index entries."""
MAX_FIELDS = 1_000
"""Fields of one page of a stream that are reported; the others stay in the bodies."""
MAX_NAME = 500
"""Characters. Longer names, and names that no store can hold, are not reported either."""
ONLY_DONE = ("closing", "total")
"""Fields that other outcomes do not have."""

_encode = msgspec.json.Encoder().encode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode
_decode = msgspec.json.Decoder().decode


class BadAttachment(ValueError):
    """The text says what is wrong with an outcome, and what to do."""


def brings_more(outcome: Outcome | Fault) -> bool:
    """True if an outcome has more than a result."""
    if type(outcome) is Done:
        more = outcome.rows or outcome.items or outcome.closing is not None
        return bool(more) or outcome.total is not None
    return isinstance(outcome, NotFound | Review) and bool(outcome.rows or outcome.items)


def attachment_of(
    claimed: ClaimedItem, outcome: Outcome | Fault, work: JobRuntime, max_bytes: int
) -> tuple[Attachment | None, Fault | None]:
    """The attachment of an outcome, or the fault that prevents storing it.

    Every item of a pass that ends has one, because the store looks for checkpoints to close then.
    """
    empty = Attachment(claimed.id, claimed.job_id, claimed.epoch)
    if not brings_more(outcome):
        return empty, None
    name = type(outcome).__name__
    values = {field: getattr(outcome, field, None) for field in ("rows", "items", *ONLY_DONE)}
    try:
        return _Builder(work, max_bytes).build(empty, values), None
    except BadAttachment as problem:
        reason = f"the handler returned {name}: {problem}"
        return None, Fault(FaultClass.INVALID_RESULT, reason)


class _Builder:
    def __init__(self, work: JobRuntime, max_bytes: int) -> None:
        self._mirror = work.mirror
        self._gate_of = work.handler.gate_of
        self._max_bytes = max_bytes
        self._size = 0
        self._fields: dict[str, dict[str, int]] = {}

    def build(self, empty: Attachment, values: Mapping[str, Any]) -> Attachment:
        rows = [self._row(row) for row in _list_of(values["rows"], MirrorRow, "rows")]
        items = [self._item(item) for item in _list_of(values["items"], FollowUp, "items")]
        return replace(
            empty,
            rows=rows,
            items=items,
            closing=self._closing(values["closing"]),
            total=_total(values["total"]),
            fields={stream: _reportable(found) for stream, found in self._fields.items()},
            size=self._size,
        )

    def _row(self, row: MirrorRow) -> MirrorRow:
        _require_texts(row)
        if self._mirror is None:
            raise BadAttachment("its job has no mirror to keep rows in. Begin it as a pass")
        if row.stream not in self._mirror.streams:
            known = ", ".join(sorted(self._mirror.streams))
            raise BadAttachment(f"the mirror has no stream {row.stream!r}; it has {known}")
        then = None if row.then is None else self._item(row.then)
        if row.body is None:
            return self._mention(row, then)
        text, body = _body(row)
        self._add_bytes(len(text) + len(row.id))
        add_types(self._fields.setdefault(row.stream, {}), body)
        content_hash = row.hash or _hash_of(body)
        return MirrorRow(
            row.stream,
            row.id,
            msgspec.Raw(text),
            content_hash,
            row.updated,
            row.parent,
            row.deleted,
            then,
        )

    def _mention(self, row: MirrorRow, then: FollowUp | None) -> MirrorRow:
        if not row.hash:
            raise BadAttachment(
                f"row {_shown(row.id)} has neither a body nor a hash to compare; give one of them"
            )
        self._add_bytes(len(row.id) + len(row.hash))
        return replace(row, then=then)

    def _item(self, item: object) -> FollowUp:
        if not isinstance(item, FollowUp):
            raise BadAttachment(f"a follow-up is a FollowUp, not {type(item).__name__}")
        _require_text("the key of a follow-up", item.key)
        if not isinstance(item.input, Mapping):
            raise BadAttachment(f"the input of follow-up {_shown(item.key)} must be a dict")
        self._add_bytes(len(_json(item.input, f"the input of follow-up {_shown(item.key)}")))
        self._require_checkpoint(item.checkpoint, f"follow-up {_shown(item.key)}")
        return replace(item, key=bounded_key(item.key), gate=self._gate(item))

    def _gate(self, item: FollowUp) -> str:
        if item.gate or self._gate_of is None:
            return item.gate
        gate, problem = gate_in(item.input, self._gate_of)
        if problem is not None:
            raise BadAttachment(f"follow-up {_shown(item.key)}: {problem}")
        return gate

    def _closing(self, closing: object) -> Closing | None:
        if closing is None:
            return None
        if not isinstance(closing, Closing) or not isinstance(closing.proof, Proof):
            raise BadAttachment("its closing must be a Closing with a Proof")
        if not closing.checkpoint or not isinstance(closing.evidence, Mapping):
            raise BadAttachment("its closing must name a checkpoint, and its evidence be a dict")
        self._require_checkpoint(closing.checkpoint, "the closing")
        if closing.watermark is not None:
            _require_text("the watermark of the closing", closing.watermark)
        self._add_bytes(len(_json(closing.evidence, "the evidence of the closing")))
        return closing

    def _require_checkpoint(self, name: object, what: str) -> None:
        known = self._mirror.checkpoints if self._mirror is not None else frozenset[str]()
        if name == "" or name in known:
            return
        has = f"it has {', '.join(sorted(known))}" if known else "it is not a pass over a mirror"
        raise BadAttachment(f"{what} names {name!r}, which the job does not have; {has}")

    def _add_bytes(self, count: int) -> None:
        self._size += count
        if self._size > self._max_bytes:
            raise BadAttachment(
                f"its rows and follow-ups have more than the {self._max_bytes:,} bytes allowed"
                " (worker.page_bytes). Fetch smaller pages"
            )


def _list_of(values: object, kind: type[Any], name: str) -> Sequence[Any]:
    if not isinstance(values, list | tuple):
        raise BadAttachment(f"its {name} must be a list")
    for each in values:
        if type(each) is not kind:
            raise BadAttachment(f"its {name} must be {kind.__name__}, not {type(each).__name__}")
    return values


def _require_texts(row: MirrorRow) -> None:
    if _is_plain(row):
        return
    if type(row.id) is not str or not row.id:
        raise BadAttachment(
            f"a row of {_shown(row.stream)} has the id {row.id!r}: it must be a text that is not"
            " empty"
        )
    if len(row.id) > ROW_ID_LIMIT:
        raise BadAttachment(
            f"the id of row {_shown(row.id)} has {len(row.id):,} characters, more than the"
            f" {ROW_ID_LIMIT:,} allowed. Use a hash of it"
        )
    for name, value in (("stream", row.stream), ("id", row.id), ("hash", row.hash)):
        _require_text(f"the {name} of row {_shown(row.id)}", value, empty=name == "hash")
    for name, stamp in (("updated", row.updated), ("parent", row.parent)):
        if stamp is not None:
            _require_text(f"`{name}` of row {_shown(row.id)}", stamp, empty=True)
    if type(row.deleted) is not bool:
        raise BadAttachment(f"`deleted` of row {_shown(row.id)} must be True or False")


def _is_plain(row: MirrorRow) -> bool:
    """True for nearly every row, in a fraction of the time that the whole check takes."""
    if type(row.id) is not str or not 0 < len(row.id) <= ROW_ID_LIMIT:
        return False
    updated = "" if row.updated is None else row.updated
    parent = "" if row.parent is None else row.parent
    try:
        text = "".join((row.stream, row.id, row.hash, updated, parent))  # noqa: FLY002  refuses other types
    except TypeError:
        return False
    return text.isascii() and "\0" not in text and type(row.deleted) is bool


def _require_text(what: str, value: object, *, empty: bool = False) -> None:
    if not isinstance(value, str) or not (value or empty):
        raise BadAttachment(f"{what} must be a text, not {value!r:.80}")
    if not value.isascii() and not _is_encodable(value):
        raise BadAttachment(f"{what} has characters that no database can store")
    if "\0" in value:
        raise BadAttachment(f"{what} has a NUL character, which no database can store")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _body(row: MirrorRow) -> tuple[bytes, Mapping[str, Any]]:
    """The body as JSON and as a mapping."""
    if isinstance(row.body, msgspec.Raw):
        text = bytes(row.body)
        try:
            body = _decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadAttachment(f"the body of row {_shown(row.id)} is not JSON: {error}") from error
    else:
        body = row.body
        text = _json(body, f"the body of row {_shown(row.id)}")
    if not isinstance(body, Mapping):
        raise BadAttachment(f"the body of row {_shown(row.id)} must be a JSON object")
    return text, body


def _json(value: object, what: str) -> bytes:
    try:
        return _encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise BadAttachment(f"{what} is not JSON: {error}") from error


def _hash_of(body: Mapping[str, Any]) -> str:
    return blake2b(_encode_sorted(body), digest_size=16).hexdigest()


def _total(total: object) -> int | None:
    if total is None:
        return None
    if isinstance(total, bool) or not isinstance(total, int) or not 0 <= total < 2**63:
        raise BadAttachment(f"its total must be a number of rows, not {total!r:.80}")
    return total


def _reportable(fields: Mapping[str, int]) -> dict[str, int]:
    """The fields whose names a store can hold; JSON turns numbers into names."""
    named = {str(name): types for name, types in list(fields.items())[:MAX_FIELDS]}
    return {
        name: types
        for name, types in named.items()
        if len(name) <= MAX_NAME and "\0" not in name and _is_encodable(name)
    }


def _shown(value: object) -> str:
    return f"{value!r:.60}"
