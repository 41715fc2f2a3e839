"""Turns a tree from TOML or JSON into a struct, and explains which key is wrong."""

import difflib
import re
from collections.abc import Mapping
from enum import EnumType
from types import UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

import msgspec

from headgate.core.errors import UsageError

MOST_BYTES: Final = 100_000
"""Most bytes of a description."""
_PLACE: Final = re.compile(r" - at (`key` in )?`\$\.?(.*?)`$", re.DOTALL)
_STEP: Final = re.compile(r"\[[^\]]*\]|[^.\[]+")
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING: Final = re.compile(r"Object missing required field `(.*)`")
Words = TypeVar("Words", bound=msgspec.Struct)


class _Spot(NamedTuple):
    """A key of the description, its type and its value."""

    name: str
    kind: Any
    value: Any

    @property
    def words(self) -> list[str]:
        """The keys that an object may have here."""
        return [field.encode_name for field in msgspec.structs.fields(self.kind)]


def parse_words(tree: Mapping[str, Any], kind: type[Words]) -> Words:
    """The struct that a tree describes; UsageError names the wrong key and what to change."""
    try:
        size = len(msgspec.json.encode(tree))
        if size <= MOST_BYTES:
            return msgspec.convert(tree, kind)
    except msgspec.ValidationError as error:
        raise UsageError(_explained(str(error), tree, kind)) from None
    except (RecursionError, OverflowError, TypeError, ValueError) as error:
        raise UsageError(f"the description cannot be read: {error}") from None
    raise UsageError(f"the description has {size:,} bytes, more than {MOST_BYTES:,}")


def _explained(message: str, tree: Mapping[str, Any], kind: Any) -> str:
    """Turn msgspec's message into one with the user's keys."""
    place = _PLACE.search(message)
    problem = message[: place.start()] if place else message
    spot = _Spot("", kind, tree)
    for step in _STEP.findall(place[2]) if place else ():
        spot = _next(spot, step)
    name = spot.name.removeprefix(".") or "the description"
    if place and place[1]:
        return f"{name}: a name in it is too short or too long"
    if unknown := _UNKNOWN.fullmatch(problem):
        close = difflib.get_close_matches(unknown[1], spot.words, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"it may have {', '.join(spot.words)}"
        return f"{name}: unknown key {unknown[1]!r}; {hint}"
    if missing := _MISSING.fullmatch(problem):
        return f"{name}: the key {missing[1]!r} is missing"
    if choices := _choices(spot):
        return f"{name}: {spot.value!r} is not one of {', '.join(choices)}"
    return f"{name}: {problem.replace('`', '')}"


def _choices(spot: _Spot) -> list[str]:
    """The values that may stand here, if they are few."""
    if isinstance(spot.kind, EnumType):
        return [*map(str, spot.kind)]
    if get_origin(spot.kind) is Literal:
        return [str(each) for each in get_args(spot.kind)]
    return []


def _next(spot: _Spot, step: str) -> _Spot:
    """Follow one step of msgspec's path, which writes every key of a mapping as `[...]`."""
    if not step.startswith("["):
        return _member(spot, step)
    kind = get_args(spot.kind)[-1 if get_origin(spot.kind) is not tuple else 0]
    if step != "[...]":
        value = spot.value[int(step[1:-1])]
        return _Spot(spot.name + step, _narrowed(kind, value), value)
    key, value = next((key, each) for key, each in spot.value.items() if not _fits(each, kind))
    return _Spot(f"{spot.name}.{key}", _narrowed(kind, value), value)


def _member(spot: _Spot, step: str) -> _Spot:
    value = spot.value.get(step)
    for field in msgspec.structs.fields(spot.kind):
        if field.encode_name == step:
            return _Spot(f"{spot.name}.{step}", _narrowed(field.type, value), value)
    # The key that says which struct of a union this is.
    return _Spot(f"{spot.name}.{step}", Any, value)


def _fits(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _narrowed(kind: Any, value: Any) -> Any:
    """The part of a union that has members, if one has; else the type."""
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in {Union, UnionType}:
        parts = [_narrowed(part, value) for part in get_args(kind)]
        structured = [part for part in parts if _has_places(part)]
        meant = [part for part in structured if _is_tagged(part, value)]
        return next(iter(meant or structured), kind)
    return kind


def _is_tagged(kind: Any, value: Any) -> bool:
    """Whether the value says that it is this struct of a union."""
    config = getattr(kind, "__struct_config__", None)
    if config is None or config.tag_field is None or not isinstance(value, Mapping):
        return False
    return bool(value.get(config.tag_field) == config.tag)


def _has_places(kind: Any) -> bool:
    return get_origin(kind) not in {None, Literal} or (
        isinstance(kind, type) and issubclass(kind, msgspec.Struct)
    )
