"""Tables and values in Markdown, and what the classes of settings say about their fields."""

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec
from msgspec.inspect import UnionType

ANY_SIZE = 1_000_000
"""A bound that is no smaller is only there to keep nonsense out."""


def documented_fields(struct: type[msgspec.Struct], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Each setting with the sentence that stands under it in its class."""
    sentences = field_sentences(struct)
    for field in msgspec.structs.fields(struct):
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from documented_fields(field.type, f"{prefix}{field.name}.")
        else:
            yield prefix + field.name, sentences.get(field.name, "")


def field_sentences(struct: type) -> Mapping[str, str]:
    """The strings under the fields of a class, which are comments to Python."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(struct))).body
    lines = body.body if isinstance(body, ast.ClassDef) else []
    return {
        field.target.id: one_line(text.value.value)
        for field, text in pairwise(lines)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def field_table(policy: type[msgspec.Struct]) -> str:
    """A table of the fields of a struct: type, default, meaning."""
    sentences = field_sentences(policy)
    rows = [
        (
            f"`{field.name}`",
            _kind(msgspec.inspect.type_info(field.type)),
            plain_default(field.default),
            sentences.get(field.name, ""),
        )
        for field in msgspec.structs.fields(policy)
    ]
    return table(("setting", "type", "default", "meaning"), rows)


def _kind(info: msgspec.inspect.Type) -> str:
    """What may be written there, in words."""
    match info:
        case UnionType(types=(some, *_)):
            return _kind(some)
        case msgspec.inspect.EnumType(cls=choices):
            return ", ".join(f"`{each}`" for each in choices)
        case msgspec.inspect.VarTupleType(item_type=item):
            return f"list of {_kind(item).replace('number', 'numbers')}"
        case msgspec.inspect.DictType(value_type=msgspec.inspect.StrType() | UnionType() as value):
            return "table of text and secrets" if isinstance(value, UnionType) else "table of text"
        case msgspec.inspect.IntType() | msgspec.inspect.FloatType():
            return f"number{_bounds(info)}"
        case msgspec.inspect.BoolType():
            return "`true`, `false`"
        case msgspec.inspect.StrType():
            return "text"
        case _:
            return "see below"


def _bounds(info: msgspec.inspect.IntType | msgspec.inspect.FloatType) -> str:
    if info.gt is not None:
        return f" above {info.gt:g}"
    if info.le is None or info.le >= ANY_SIZE:
        return f" from {info.ge or 0:g}"
    return f" from {info.ge or 0:g} to {info.le:g}"


def plain_default(value: object) -> str:
    if value in (None, "", (), {}, msgspec.NODEFAULT) or isinstance(value, msgspec.Struct):
        return ""
    return f"`{toml(value)}`"


def changes(policy: msgspec.Struct, prefix: str = "") -> str:
    """What a policy says beyond the defaults, as lines of TOML."""
    lines = []
    for field in msgspec.structs.fields(policy):
        value = getattr(policy, field.name)
        if value in ({}, field.default):
            continue
        if isinstance(value, msgspec.Struct):
            lines.append(changes(value, f"{prefix}{field.name}."))
        else:
            lines.append(f"{prefix}{field.name} = {toml(value)}")
    return "\n".join(lines)


def toml(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{name} = {toml(each)}' for name, each in value.items())} }}"
    if isinstance(value, msgspec.Struct):
        return f"{{ {changes(value).replace(chr(10), ', ')} }}"
    return json.dumps(value)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows))


def one_line(text: str | None) -> str:
    return " ".join((text or "").split())
