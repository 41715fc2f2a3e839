"""The JSON types of fields, as bits."""

from collections.abc import Iterable, Mapping
from enum import IntFlag
from typing import Any

import msgspec


class JsonType(IntFlag):
    NULL = 1
    BOOLEAN = 2
    INTEGER = 4
    NUMBER = 8
    STRING = 16
    ARRAY = 32
    OBJECT = 64


BITS: dict[type, int] = {
    type(None): JsonType.NULL.value,
    bool: JsonType.BOOLEAN.value,
    int: JsonType.INTEGER.value,
    float: JsonType.NUMBER.value,
    str: JsonType.STRING.value,
    list: JsonType.ARRAY.value,
    tuple: JsonType.ARRAY.value,
    dict: JsonType.OBJECT.value,
}


def add_types(fields: dict[str, int], body: Mapping[str, Any]) -> None:
    """Add the names and types of a body to what was seen before."""
    for name, value in body.items():
        bit = BITS.get(type(value)) or _bit_as_json(value)
        before = fields.get(name, 0)
        if not before & bit:
            fields[name] = before | bit


def _bit_as_json(value: object) -> int:
    """The type that a value of another class, such as a date, has in JSON."""
    return BITS[type(msgspec.json.decode(msgspec.json.encode(value)))]


def type_names(types: int) -> str:
    """In words, as in `integer, string`."""
    return ", ".join((each.name or "").lower() for each in JsonType if types & each)


class FieldChange(msgspec.Struct, frozen=True):
    name: str
    types: int
    """All types that were seen until now."""
    is_new: bool


def field_changes(stored: Mapping[str, int], observed: Mapping[str, int]) -> list[FieldChange]:
    """New fields, and known fields with a new type, in order of appearance."""
    return [
        FieldChange(name, stored.get(name, 0) | types, name not in stored)
        for name, types in observed.items()
        if types & ~stored.get(name, 0)
    ]


SHOWN = 20


def drift_text(stream: str, changes: Iterable[FieldChange]) -> str:
    """A change of a schema in words."""
    told = [
        f"new field {each.name} ({type_names(each.types)})"
        if each.is_new
        else f"{each.name} is now {type_names(each.types)}"
        for each in changes
    ]
    more = f"; and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
    return f"{stream}: {'; '.join(told[:SHOWN])}{more}"
