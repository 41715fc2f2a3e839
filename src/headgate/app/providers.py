"""`[providers.NAME]`: the built-in settings of a provider, overlaid with the user's."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from headgate.core.errors import BadSetting
from headgate.core.provider import PRESETS, ProviderPolicy

SECTION = "providers."


class ProviderLeaf(NamedTuple):
    path: str
    type: Any
    default: Any


def provider_leaf(path: str) -> ProviderLeaf | None:
    """The setting at a path below `providers.`; None if there is none."""
    if not path.startswith(SECTION):
        return None
    name, _, rest = path.removeprefix(SECTION).partition(".")
    found = {leaf.path: leaf for leaf in _leaves(ProviderPolicy, "")}.get(rest)
    return ProviderLeaf(path, found.type, found.default) if found and name else None


def fields() -> list[str]:
    return [leaf.path for leaf in _leaves(ProviderPolicy, "")]


def _leaves(struct: type[msgspec.Struct], prefix: str) -> Iterator[ProviderLeaf]:
    for field in msgspec.structs.fields(struct):
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from _leaves(field.type, f"{prefix}{field.name}.")
        else:
            yield ProviderLeaf(prefix + field.name, field.type, field.default)


def with_presets(given: Iterable[tuple[str, Any]]) -> dict[str, ProviderPolicy]:
    values: dict[str, dict[str, Any]] = {}
    for path, value in given:
        name, _, rest = path.removeprefix(SECTION).partition(".")
        values.setdefault(name, {})[rest] = value
    mine = {name: _overlaid(name, fields) for name, fields in values.items()}
    return {**PRESETS, **mine}


def _overlaid(name: str, values: Mapping[str, Any]) -> ProviderPolicy:
    base = PRESETS.get(name, ProviderPolicy())
    changes: dict[str, Any] = {}
    for path, value in values.items():
        section, _, field = path.rpartition(".")
        if section:
            part = changes.get(section, getattr(base, section))
            changes[section] = msgspec.structs.replace(part, **{field: value})
        else:
            changes[field] = value
    try:
        whole = msgspec.structs.replace(base, **changes)
        return msgspec.convert(msgspec.to_builtins(whole), ProviderPolicy)
    except ValueError as error:
        raise BadSetting(f"[providers.{name}] {error}") from error
