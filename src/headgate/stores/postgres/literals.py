"""Whole batches as text that PostgreSQL reads: array literals and COPY blocks.

Columns are encoded as a whole, in C: a Python call for each value would cost more than the database
needs to store it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

import msgspec

from headgate.core.fault import FaultClass
from headgate.core.item import NewItem
from headgate.core.settlement import Settlement
from headgate.core.signature import kind_of

ODD_ESCAPES = ("\\n", "\\r", "\\t", "\\u", "\\b", "\\f")
"""JSON escapes that an array literal would read as a plain letter."""
SEPARATOR = "\x00"
"""Cannot occur in a text that PostgreSQL stores."""
BLOCK_ROWS = 1_000
NOTHING = "\\N"
"""The form of NULL in COPY."""
NO_PROBLEM = f"{NOTHING}\t{NOTHING}\tPENDING\t{NOTHING}\t{NOTHING}"


def storable(text: str) -> str:
    """The text without what PostgreSQL cannot store: NUL, and halves of surrogate pairs."""
    if SEPARATOR in text:
        text = text.replace(SEPARATOR, "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def stored_forms(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a query: texts that can be stored, and lists as array literals."""
    return {name: _stored_form(value) for name, value in values.items()}


def _stored_form(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list | tuple):
        numbers = bool(value) and isinstance(value[0], int)
        return number_array(value) if numbers else text_array(value)
    return value


def number_array(values: Sequence[int | bool]) -> str:
    return "{" + msgspec.json.encode(values).decode()[1:-1] + "}"


def text_array(values: Sequence[str | None]) -> str:
    """Texts as an array literal; None becomes NULL.

    JSON strings are array elements already, unless they need an escape other than for the quote and
    the backslash.
    """
    try:
        encoded = msgspec.json.encode(values).decode()
    except UnicodeEncodeError:
        return _quoted_array(values)
    if any(escape in encoded for escape in ODD_ESCAPES):
        return _quoted_array(values)
    return "{" + encoded[1:-1] + "}"


def _quoted_array(values: Iterable[str | None]) -> str:
    return "{" + ",".join("null" if each is None else _quoted(each) for each in values) + "}"


def _quoted(text: str) -> str:
    escaped = storable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def json_texts(values: Sequence[Any]) -> list[Any]:
    """The same values, with JSON values as their text."""
    if values and isinstance(values[0], msgspec.Raw):
        return [bytes(each).decode() for each in values]
    return list(values)


TEXT_FIELDS = frozenset(
    {
        "status",
        "outcome",
        "result",
        "normalized",
        "error_class",
        "reason",
        "calls",
        "gate",
        "signature",
        "digest",
        "variant",
        "trace",
    }
)


def settlement_arrays(settlements: Sequence[Settlement]) -> dict[str, str]:
    """One array literal for each field, in order of item, which is the order of locks."""
    ordered = sorted(map(msgspec.structs.astuple, settlements), key=itemgetter(0))
    columns = zip(*ordered, strict=True)
    return {
        name: text_array(column) if name in TEXT_FIELDS else number_array(column)
        for name, column in zip(Settlement.__struct_fields__, columns, strict=True)
    }


def pack_rows(items: Sequence[NewItem]) -> list[bytes]:
    """Rows for COPY, in blocks: the fields of each item, and a separator in place of the rest."""
    starts = range(0, len(items), BLOCK_ROWS)
    return [_packed(items[start : start + BLOCK_ROWS]).encode() for start in starts]


def copy_blocks(packed: Iterable[bytes], tail: Sequence[str | int]) -> Iterator[bytes]:
    """Packed rows, each with the same `tail`."""
    shared = "\t".join(_escaped([storable(str(each)) for each in tail]))
    rest = f"\t{shared}\n".encode()
    for block in packed:
        yield block.replace(SEPARATOR.encode(), rest)


def _packed(items: Sequence[NewItem]) -> str:
    keys = _escaped([item.key for item in items])
    inputs = _escaped([item.input for item in items])
    gates = _escaped([item.gate for item in items])
    summaries = _escaped([item.summary for item in items])
    checkpoints = _escaped([item.checkpoint for item in items])
    problems = _problems(items)
    rows = [
        f"{key}\t{text}\t{item.line}\t{gate}\t{summary}\t{checkpoint}\t{problem}{SEPARATOR}"
        for item, key, text, gate, summary, checkpoint, problem in zip(
            items, keys, inputs, gates, summaries, checkpoints, problems, strict=True
        )
    ]
    return "".join(rows)


def _problems(items: Sequence[NewItem]) -> list[str]:
    """The columns last_error, error_class, status, signature and variant."""
    if all(item.problem is None for item in items):
        return [NO_PROBLEM] * len(items)
    texts = _escaped([item.problem or "" for item in items])
    kinds = [kind_of(FaultClass.BAD_ROW, item.problem) for item in items]
    signatures = _escaped([signature for signature, _ in kinds])
    variants = _escaped([variant or "" for _, variant in kinds])
    return [
        _problem(item, text, f"{signature}\t{variant or NOTHING}")
        for item, text, signature, variant in zip(items, texts, signatures, variants, strict=True)
    ]


def _problem(item: NewItem, text: str, kind: str) -> str:
    if item.problem is None:
        return NO_PROBLEM
    if item.duplicate:
        return f"{text}\tbad_row\tSKIPPED\t{NOTHING}\t{NOTHING}"
    return f"{text}\tbad_row\tERROR\t{kind}"


def _escaped(column: list[str]) -> list[str]:
    """The column as COPY text, escaped in one step."""
    whole = SEPARATOR.join(column)
    if whole.count(SEPARATOR) != len(column) - 1 or not _encodable(whole):
        column = [storable(text) for text in column]
        whole = SEPARATOR.join(column)
    for raw, escape in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        if raw in whole:
            whole = whole.replace(raw, escape)
    return whole.split(SEPARATOR)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
