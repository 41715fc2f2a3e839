"""Finds a handler by name, by `file.py:function`, by `module:function`, or by a TOML file.

`describe_handlers` lists the handlers that users choose from.
"""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from headgate.core.errors import UnknownHandler
from headgate.handlers.code import (
    described,
    did_you_mean,
    functions_in,
    load_entry,
    load_file,
    load_module,
    member,
)
from headgate.handlers.function import marked
from headgate.ports.handler import HandlerSpec

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


GROUP = "headgate.handlers"
LOOKUP_MODULE = "headgate.handlers.lookup"
DOWNLOAD = "download"
SHIPPED: Final = {
    "http.lookup": (LOOKUP_MODULE, "HTTP_LOOKUP"),
    DOWNLOAD: ("headgate.handlers.download.handler", "DOWNLOAD"),
    "extract": ("headgate.handlers.extract", "EXTRACT"),
    "sample.words": ("headgate.handlers.sample", "SAMPLE"),
}
"""Handlers of Headgate, imported only when they are needed."""


def resolve(reference: str, references: Sequence[str] = ()) -> HandlerSpec:
    """Return the handler that `reference` names; UnknownHandler says what to change.

    A plain name is looked up in the handler sets of `references`, then among the handlers of
    Headgate and of installed packages. The resolved reference works in every process of this
    machine with the same sets: file paths are absolute.
    """
    if reference.endswith(".toml"):
        return _of_toml(Path(reference))
    target, colon, name = reference.rpartition(":")
    if not colon:
        return _named(reference, references)
    if not target or not name:
        raise UnknownHandler(f"{reference!r} should be `file.py:function` or `module:function`")
    if target.endswith(".py") or "/" in target:
        path = Path(target).expanduser().resolve()
        return described(member(load_file(path), name, target), f"{path}:{name}")
    return described(member(load_module(target), name, target), reference)


def load_all(references: Sequence[str]) -> Mapping[str, HandlerSpec]:
    """Return every handler that has a name: of these sets, of Headgate and of packages."""
    entries = _entries()
    found = _sets(references, entries)
    found |= {name: _shipped(name) for name in SHIPPED}
    for name, entry in entries.items():
        found[name] = described(load_entry(entry), name)
    return found


def _named(name: str, references: Sequence[str]) -> HandlerSpec:
    entries = _entries()
    found = _sets(references, entries)
    if name in found:
        return found[name]
    if name in SHIPPED:
        return _shipped(name)
    if name in entries:
        return described(load_entry(entries[name]), name)
    path = Path(name)
    if path.suffix == ".py":
        raise UnknownHandler(_unnamed_function(path))
    hint = did_you_mean(name, [*found, *SHIPPED, *entries])
    raise UnknownHandler(
        f"no handler has the name {name!r}{hint}{'' if hint.endswith('?') else '.'}"
        "  Write your own function as `file.py:function` or `module:function`",
    )


def _sets(references: Sequence[str], entries: "Mapping[str, EntryPoint]") -> dict[str, HandlerSpec]:
    """Return the handlers of all sets by name; UnknownHandler if two have the same name."""
    places = dict.fromkeys(SHIPPED, "Headgate itself")
    places |= {name: f"the entry point {entry.value}" for name, entry in entries.items()}
    found: dict[str, HandlerSpec] = {}
    for reference in dict.fromkeys(references):
        for spec in _of_set(reference):
            known = found.get(spec.name)
            if known is not None and known.call is spec.call:
                continue
            if spec.name in places:
                raise UnknownHandler(
                    f"two handlers are named {spec.name!r}: one of {places[spec.name]},"
                    f" one of {reference}; give one of them another name",
                )
            places[spec.name] = reference
            found[spec.name] = spec
    return found


def _of_set(reference: str) -> Iterator[HandlerSpec]:
    """Yield the handlers of a file, a module or a TOML file, each with its name as reference."""
    if reference.endswith(".toml"):
        specs = [_of_toml(Path(reference))]
    else:
        specs = _marked_in(_load(reference), reference)
    for spec in specs:
        if ":" in spec.name or "/" in spec.name or spec.name.endswith((".py", ".toml")):
            raise UnknownHandler(
                f"{reference}: {spec.name!r} looks like a file or a function, so no job could"
                "  refer to it; use a name such as `price.lookup`",
            )
        yield msgspec.structs.replace(spec, reference=spec.name)


def _load(reference: str) -> ModuleType:
    if ":" in reference:
        raise UnknownHandler(
            f"{reference!r}: give only the file or module; all its handlers are used",
        )
    if reference.endswith(".py") or "/" in reference:
        return load_file(Path(reference).expanduser().resolve())
    return load_module(reference)


def _marked_in(module: ModuleType, reference: str) -> list[HandlerSpec]:
    functions = {id(value): value for value in vars(module).values() if marked(value)}
    if not functions:
        raise UnknownHandler(
            f'{reference} has no handler: mark its functions with `@handler("some.name")`',
        )
    return [described(function, reference) for function in functions.values()]


def _of_toml(path: Path) -> HandlerSpec:
    return cast("HandlerSpec", importlib.import_module(LOOKUP_MODULE).of_file(path))


def _shipped(name: str) -> HandlerSpec:
    module, attribute = SHIPPED[name]
    return cast("HandlerSpec", getattr(importlib.import_module(module), attribute))


def _entries() -> "dict[str, EntryPoint]":
    # This import is slow, and a handler that is named by its file does not need it.
    from importlib.metadata import entry_points  # noqa: PLC0415

    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _unnamed_function(path: Path) -> str:
    if not path.exists():
        return f"the file {path} does not exist"
    names = functions_in(load_file(path.resolve())) or ["function"]
    return f"name a function of {path}: {', '.join(f'{path}:{name}' for name in names)}"


class HandlerInfo(msgspec.Struct, frozen=True):
    name: str
    """The name by which a job refers to the handler."""
    about: str = ""
    provider: str | None = None
    strategies: tuple[str, ...] = ()
    pack: int | None = None
    timeout_s: float | None = None
    version: str = ""
    needs: tuple[str, ...] = ()
    """The columns that a row must have."""
    guarded: bool = False
    """Whether requests to private addresses are refused."""
    asks: tuple[str, ...] = ()
    """The fixed origins that are asked for every row."""
    config_schema: Mapping[str, Any] | None = None


def describe_handlers(references: Sequence[str]) -> list[HandlerInfo]:
    """Return every handler that has a name, sorted by name.

    This imports users' code; `app.handler_list` does so in another process.
    """
    return [
        HandlerInfo(
            name=name,
            about=spec.about,
            provider=spec.provider,
            strategies=spec.strategies,
            pack=spec.pack,
            timeout_s=spec.timeout_s,
            version=spec.version,
            needs=spec.needs,
            guarded=spec.guarded,
            asks=spec.asks,
            config_schema=spec.config_schema,
        )
        for name, spec in sorted(load_all(references).items())
    ]
