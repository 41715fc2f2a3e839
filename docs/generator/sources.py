"""The words of sources to extract from, and the sources that come with the program."""

import re
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec

from generator.tables import field_sentences, one_line, plain_default, table
from headgate.handlers.extract import auth, description, paginators, shipped_names, shipped_source

SECTIONS: Mapping[str, type[msgspec.Struct]] = {
    "At the top of the file": description.SourceDescription,
    "`[client]`": description.ClientWords,
    "`[[resources]]`": description.Resource,
    "`endpoint`": description.Endpoint,
    "`incremental`": description.Incremental,
    "`order`": description.Order,
    "`range`": description.RangeWords,
    "`detail`": description.Detail,
    "`response_actions`": description.ResponseAction,
    "Every paginator": paginators.PaginatorWord,
}
NAMED = {
    "Paginator": "see *paginators*",
    "Auth": "see *auth*",
    "SecretOrigin": '`{ env = "NAME" }` or `{ file = "PATH" }`',
    "EnvValue": '`{ env = "NAME" }`',
    "ClientWords": "table",
    "Resource": "tables",
    "Endpoint": "table or text",
    "Order": "table",
    "RangeWords": "table",
    "Detail": "table",
    "Incremental": "table",
    "ResponseAction": "tables",
    "Compare": ", ".join(f"`{each}`" for each in paginators.Compare),
}
PLAIN = {str: "text", int: "number", float: "number", bool: "`true`, `false`", Any: "any value"}


def source_sections() -> str:
    """A table for each object of a source."""
    parts = [f"## {title}\n\n{_words(kind)}" for title, kind in SECTIONS.items()]
    parts += [_tagged("paginator", kind) for kind in get_args(paginators.Paginator)]
    parts += [_tagged("auth", kind) for kind in get_args(auth.Auth)]
    return "\n\n".join(parts)


def shipped_sources() -> str:
    """A row for each source: its streams, and the values that it takes."""
    rows = []
    for name in shipped_names():
        tree = shipped_source(name)
        streams = ", ".join(f"`{each['name']}`" for each in tree["resources"])
        taken = ", ".join(f"`{each}`" for each in _values(tree))
        rows.append((f"`{name}`", tree["about"], streams, taken))
    return table(("source", "what", "streams", "values and variables"), rows)


def _tagged(word: str, kind: type[msgspec.Struct]) -> str:
    about = (
        one_line(kind.__doc__)
        if kind.__doc__ and not kind.__doc__.startswith(kind.__name__)
        else ""
    )
    title = f"## `{word}` of the type `{kind.__struct_config__.tag}`"
    own = [each for each in kind.__struct_fields__ if each not in _shared()]
    return "\n\n".join(filter(None, (title, about, _words(kind, own) if own else "")))


def _shared() -> tuple[str, ...]:
    return paginators.PaginatorWord.__struct_fields__


def _words(kind: type[msgspec.Struct], names: list[str] | None = None) -> str:
    sentences = field_sentences(kind)
    rows = [
        (
            f"`{field.encode_name}`",
            ", ".join(dict.fromkeys(_kinds(field.type))),
            "needed" if field.required else plain_default(field.default),
            sentences.get(field.name, ""),
        )
        for field in msgspec.structs.fields(kind)
        if names is None or field.name in names
    ]
    return table(("word", "type", "default", "meaning"), rows)


def _kinds(kind: Any) -> Iterator[str]:
    """What may be written there, in words."""
    origin, parts = get_origin(kind), get_args(kind)
    if hasattr(kind, "__metadata__"):
        yield from _kinds(parts[0])
    elif kind == paginators.Paginator:
        yield NAMED["Paginator"]
    elif kind == auth.Auth:
        yield NAMED["Auth"]
    elif origin in {Union, UnionType}:
        found = [part for part in parts if part is not type(None)]
        structs = {part for part in found if part in get_args(paginators.Paginator)}
        yield from [NAMED["Paginator"]] if structs else _of_each(found)
    elif origin is Literal:
        words = [_literal(part) for part in parts if part != ""]
        if words:
            yield ", ".join(words)
    elif origin in {tuple, list}:
        yield "list of " + " or ".join(dict.fromkeys(_kinds(parts[0])))
    elif origin is not None:
        yield "table"
    else:
        yield NAMED.get(getattr(kind, "__name__", ""), "") or PLAIN.get(kind, "see below")


def _of_each(kinds: list[Any]) -> Iterator[str]:
    if any(part in get_args(auth.Auth) for part in kinds):
        yield NAMED["Auth"]
        return
    for part in kinds:
        yield from _kinds(part)


def _literal(value: Any) -> str:
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _values(tree: Mapping[str, Any]) -> list[str]:
    """The placeholders and variables that a shipped source names."""
    text = msgspec.json.encode(tree).decode()
    found = re.findall(r"\{(?:env\.)?([A-Za-z_]\w*)\}", text)
    found += re.findall(r'"env":"(\w+)"', text)
    return [each for each in dict.fromkeys(found) if each not in {"token", "id"}]
