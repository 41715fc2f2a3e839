"""Parse a description, or explain which key is wrong and what to change."""

import difflib
import re
from collections.abc import Mapping
from enum import EnumType
from types import UnionType
from typing import Annotated, Any, Final, NamedTuple, Union, get_args, get_origin

import msgspec

from headgate.core.errors import UsageError
from headgate.handlers.lookup.description import Description

MOST_BYTES: Final = 100_000
_PLACE: Final = re.compile(r" - at (`key` in )?`\$\.?(.*?)`$", re.DOTALL)
_STEP: Final = re.compile(r"\[[^\]]*\]|[^.\[]+")
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING: Final = re.compile(r"Object missing required field `(.*)`")


class _Spot(NamedTuple):
    """A key of the description, its type and its value."""

    name: str
    kind: Any
    value: Any

    @property
    def words(self) -> list[str]:
        """The keys that an object may have here."""
        return [field.name for field in msgspec.structs.fields(self.kind)]


def parse(tree: object) -> Description:
    """Parse a tree that was read from TOML or JSON."""
    if not isinstance(tree, Mapping):
        raise UsageError("a lookup is an object with `request` and `columns`")
    try:
        size = len(msgspec.json.encode(tree))
        if size <= MOST_BYTES:
            return msgspec.convert(tree, Description)
    except msgspec.ValidationError as error:
        raise UsageError(_explained(str(error), tree)) from None
    except (RecursionError, OverflowError, TypeError, ValueError) as error:
        raise UsageError(f"the description cannot be read: {error}") from None
    raise UsageError(f"the description has {size:,} bytes, more than {MOST_BYTES:,}")


def _explained(message: str, tree: Mapping[str, Any]) -> str:
    """Turn msgspec's message into one with the user's keys."""
    place = _PLACE.search(message)
    problem = message[: place.start()] if place else message
    spot = _Spot("", Description, tree)
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
    if isinstance(spot.kind, EnumType):
        return f"{name}: {spot.value!r} is not one of {', '.join(map(str, spot.kind))}"
    return f"{name}: {problem.replace('`', '')}"


def _next(spot: _Spot, step: str) -> _Spot:
    """Follow one step of msgspec's path, which writes every key of a mapping as `[...]`."""
    if not step.startswith("["):
        (field,) = (each for each in msgspec.structs.fields(spot.kind) if each.name == step)
        return _Spot(f"{spot.name}.{step}", _narrowed(field.type), spot.value[step])
    kind = get_args(spot.kind)[-1 if get_origin(spot.kind) is not tuple else 0]
    if step != "[...]":
        return _Spot(spot.name + step, _narrowed(kind), spot.value[int(step[1:-1])])
    key = next(key for key, value in spot.value.items() if not _fits(value, kind))
    return _Spot(f"{spot.name}.{key}", _narrowed(kind), spot.value[key])


def _fits(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _narrowed(kind: Any) -> Any:
    """The part of a union that has members, if one has; else the type."""
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in {Union, UnionType}:
        parts = [_narrowed(part) for part in get_args(kind)]
        return next((part for part in parts if _has_places(part)), kind)
    return kind


def _has_places(kind: Any) -> bool:
    return get_origin(kind) is not None or (
        isinstance(kind, type) and issubclass(kind, msgspec.Struct)
    )
