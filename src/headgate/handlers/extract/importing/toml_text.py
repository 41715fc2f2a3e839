"""Writes a source as TOML that people edit: what is small stands in one line."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

INLINE: Final = 90
"""Most characters of an object that is written in one line."""
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPED: Final = re.compile(r"[\x7f-\x9f\u2028\u2029]")


def source_text(tree: Mapping[str, Any], comments: Sequence[str] = ()) -> str:
    """The TOML of a tree without nulls, with comments above it."""
    head = [f"# {line}".rstrip() for comment in comments for line in comment.splitlines()]
    lines = [*head, *([""] if head else []), *_table(tree, ())]
    return "\n".join(lines).strip() + "\n"


def _table(tree: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """The plain members first: they would otherwise belong to the table before them."""
    members = {name: value for name, value in tree.items() if value is not None}
    tables = {name: value for name, value in members.items() if _is_table(name, value)}
    for name, value in members.items():
        if name not in tables:
            yield f"{_key(name)} = {_value(value)}"
    for name, value in tables.items():
        inner = (*path, name)
        header = ".".join(map(_key, inner))
        if isinstance(value, Mapping):
            yield from ("", f"[{header}]")
            yield from _table(value, inner)
            continue
        for each in value:
            yield from ("", f"[[{header}]]")
            yield from _table(each, inner)


def _is_table(name: str, value: Any) -> bool:
    if isinstance(value, Mapping):
        return len(name) + len(_value(value)) > INLINE
    if isinstance(value, list | tuple) and value:
        listed = all(isinstance(each, Mapping) and each for each in value)
        return listed and (name == "resources" or len(_value(value)) > INLINE)
    return False


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        pairs = [
            f"{_key(name)} = {_value(each)}" for name, each in value.items() if each is not None
        ]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        return _text(value)
    return msgspec.json.encode(value).decode()


def _text(value: str) -> str:
    """A text; where quotes would have to be escaped, in single quotes if these can hold it."""
    if '"' in value and "'" not in value and value.isprintable():
        return f"'{value}'"
    encoded = msgspec.json.encode(value).decode()
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", encoded)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)
