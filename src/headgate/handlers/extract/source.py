"""Reads the description of a source: shorter forms are written out, and defaults are merged."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Final

import msgspec

from headgate.core.errors import UsageError
from headgate.core.identity import result_digest
from headgate.core.rate import parse_limits
from headgate.core.time_text import parse_span
from headgate.handlers.extract.description import Resource, SourceDescription
from headgate.handlers.extract.paginators import NAMES
from headgate.handlers.extract.paging.shape import SIZE_PARAMS
from headgate.handlers.words.parsing import MOST_BYTES, parse_words

NAME: Final = "extract"
Tree = Mapping[str, Any]
_DEEP: Final = frozenset({"endpoint", "params", "headers", "json"})
"""Keys of a resource whose members are merged with those of the defaults."""
_ENV: Final = re.compile(r"\{env\.([A-Za-z_]\w{0,127})\}")
_PARENT: Final = re.compile(r"\{resources\.([^.{}]+)\.([^{}]+)\}")
_SECRETS: Final = frozenset(
    {"token", "api_key", "password", "client_secret", "refresh_token", "secret"}
)
_REFUSED: Final = {
    "auth": "a source has one auth, under `client`; describe this stream in a source of its own",
    "end_param": "a pass always lists to the end; leave it out",
    "end_value": "a pass always lists to the end; leave it out",
    "processing_steps": "rows are kept as they are; leave it out",
    "write_disposition": "rows are always kept by their primary_key; leave it out",
}
"""Words of dlt's resources that would mean something else here than there."""
_PACE: Final = frozenset(
    {
        *("about", "auth", "burst", "concurrency", "ends", "full_every", "hosts", "limit"),
        *("overlap", "parallel", "provider", "rate", "resume_within", "selected", "stable"),
        *("timeout", "values"),
    }
)
"""Keys that do not decide which rows a source has; its values are added apart."""
_GIVEN: Final = frozenset({"params", "headers", "json"})
"""Keys whose members are the source's words, not ours."""


def parse_source(tree: object) -> SourceDescription:
    """The description in a tree that was read from TOML or JSON; UsageError says what is wrong."""
    if not isinstance(tree, Mapping):
        raise UsageError("a source is an object with `client` and `resources`")
    description = parse_words(_written_out(tree), SourceDescription)
    _check_names(description)
    _check_texts(description)
    return description


def read_source(path: Path) -> dict[str, Any]:
    """The tree in a TOML file; UsageError if it cannot be read."""
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise UsageError(f"{path}: the file has more than {MOST_BYTES:,} bytes")
        return {"name": path.stem, **tomllib.loads(text.decode())}
    except OSError as error:
        raise UsageError(f"{path}: the file cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: the file is not valid TOML: {error}") from None


def shipped_names() -> list[str]:
    """The names of the sources that come with Headgate."""
    folder = resources.files("headgate.handlers.extract") / "shipped"
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir())


def shipped_source(name: str) -> dict[str, Any]:
    """The tree of a source that comes with Headgate; UsageError names the others."""
    names = shipped_names()
    if name not in names:
        raise UsageError(
            f"there is no shipped source {name!r}; there are {', '.join(names)}. A source of your"
            " own is a TOML file"
        )
    file = resources.files("headgate.handlers.extract") / "shipped" / f"{name}.toml"
    return tomllib.loads(file.read_text("utf-8"))


def source_digest(description: SourceDescription, values: Mapping[str, str]) -> str:
    """Changes when the same source may give other rows: the next pass is then a full one."""
    deciding = _deciding(msgspec.to_builtins(description))
    values = {**description.values, **values}
    return result_digest(NAME, "", {"source": deciding, "set": values})


def parent_of(resource: Resource) -> str:
    """The stream whose rows a resource is listed for; empty: none."""
    names = {match[1] for text in texts_in(resource) for match in _PARENT.finditer(text)}
    if len(names) > 1:
        raise UsageError(
            f"{resource.name}: it names several parents ({', '.join(sorted(names))}); a stream has"
            " one. Describe a stream for each of them"
        )
    return next(iter(names), "")


def parent_paths(resource: Resource) -> list[str]:
    """The expressions over the parent's row that a resource needs, in order."""
    found = [match[2] for text in texts_in(resource) for match in _PARENT.finditer(text)]
    return list(dict.fromkeys(found))


def texts_in(tree: Any) -> Iterator[str]:
    """Every text of a description."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, Mapping):
        for value in tree.values():
            yield from texts_in(value)
    elif isinstance(tree, list | tuple):
        for value in tree:
            yield from texts_in(value)
    elif isinstance(tree, msgspec.Struct):
        for name in tree.__struct_fields__:
            yield from texts_in(getattr(tree, name))


def _written_out(tree: Tree) -> dict[str, Any]:
    whole = {name: value for name, value in tree.items() if name != "resource_defaults"}
    defaults = tree.get("resource_defaults", {})
    if not isinstance(defaults, Mapping):
        raise UsageError("resource_defaults: it is an object, with words of a resource")
    if isinstance(client := whole.get("client"), Mapping):
        whole["client"] = _with_auth(_with_paginator(client, "client"))
    if isinstance(listed := whole.get("resources"), list | tuple):
        whole["resources"] = [_resource(each, defaults) for each in listed]
    return whole


def _resource(given: Any, defaults: Tree) -> Any:
    tree = {"name": given, "endpoint": given} if isinstance(given, str) else given
    if not isinstance(tree, Mapping):
        return given
    merged = _merged(_in_full(defaults), _in_full(tree))
    name = merged.get("name", "")
    _check_refused(merged, str(name))
    endpoint = merged.get("endpoint", {})
    if isinstance(endpoint, Mapping):
        endpoint = _with_paginator(endpoint, f"{name}.endpoint")
        merged["endpoint"] = {"path": name, **endpoint}
    return merged


def _in_full(tree: Tree) -> dict[str, Any]:
    """A resource whose endpoint is an object with everything that belongs there."""
    full = dict(tree)
    endpoint = full.get("endpoint", {})
    if isinstance(endpoint, str):
        endpoint = {"path": endpoint}
    if "data_selector" in full and isinstance(endpoint, Mapping):
        endpoint = {"data_selector": full.pop("data_selector"), **endpoint}
    if endpoint:
        full["endpoint"] = endpoint
    return full


def _check_refused(tree: Tree, where: str) -> None:
    for name, value in tree.items():
        if name in _REFUSED:
            raise UsageError(f"{where}.{name}: {_REFUSED[name]}")
        if name in {"endpoint", "incremental"} and isinstance(value, Mapping):
            _check_refused(value, f"{where}.{name}")


def _merged(defaults: Tree, given: Tree) -> dict[str, Any]:
    merged = dict(defaults)
    for name, value in given.items():
        before = merged.get(name)
        deep = name in _DEEP and isinstance(before, Mapping) and isinstance(value, Mapping)
        merged[name] = _merged(before, value) if deep and before is not None else value
    return merged


def _with_paginator(tree: Tree, where: str) -> dict[str, Any]:
    found = tree.get("paginator")
    if isinstance(found, str):
        found = {"type": found}
    if not isinstance(found, Mapping):
        return dict(tree)
    kind = found.get("type")
    if kind == "auto":
        raise UsageError(
            f"{where}.paginator: `auto` is not guessed while a pass runs; `headgate extract detect"
            " URL` guesses once and writes the words down"
        )
    if kind not in NAMES:
        raise UsageError(f"{where}.paginator: {kind!r} is not one of {', '.join(NAMES)}")
    return {**tree, "paginator": found}


def _with_auth(client: Tree) -> dict[str, Any]:
    """A client whose secrets are `{ env = … }`, also where they were `{env.NAME}`."""
    auth = client.get("auth")
    if not isinstance(auth, Mapping):
        return dict(client)
    return {**client, "auth": _with_secrets(auth, "client.auth")}


def _with_secrets(tree: Tree, where: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in tree.items():
        place = f"{where}.{name}"
        if isinstance(value, str) and (secret := _ENV.fullmatch(value)):
            found[name] = {"env": secret[1]}
        elif isinstance(value, str) and name in _SECRETS and tree.get("type") != "login" and value:
            raise UsageError(
                f"{place}: the secret itself stands in the source; write"
                f' {name} = {{ env = "NAME" }} and put it into that environment variable'
            )
        elif isinstance(value, Mapping) and not {"env", "file"} & value.keys():
            found[name] = _with_secrets(value, place)
        else:
            found[name] = value
    return found


def _check_names(description: SourceDescription) -> None:
    names = [each.name for each in description.resources]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"resources: two have the name {name!r}")
    parents = {each.name: parent_of(each) for each in description.resources}
    for name, parent in parents.items():
        if parent and parent not in names:
            raise UsageError(f"{name}: it needs {parent!r}, which is not among the resources")
        above = parent
        for _ in names:
            above = parents.get(above, "")
        if above:
            raise UsageError(f"{name}: its parents lead in a circle")


def _check_texts(description: SourceDescription) -> None:
    try:
        parse_limits(description.client.rate)
        for span in (description.full_every, description.resume_within):
            if span:
                parse_span(span)
    except ValueError as error:
        raise UsageError(str(error)) from None
    for resource in description.resources:
        changed = resource.endpoint.incremental
        if changed and isinstance(changed.lag, str):
            _check_span(changed.lag, f"{resource.name}.endpoint.incremental.lag")
        if resource.range and isinstance(resource.range.step, str):
            _check_span(resource.range.step, f"{resource.name}.range.step")


def _check_span(text: str, where: str) -> None:
    try:
        parse_span(text)
    except ValueError as error:
        raise UsageError(f"{where}: {error}") from None


def _deciding(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {
            name: _without_size(value) if name in _GIVEN else _deciding(value)
            for name, value in tree.items()
            if name not in _PACE
        }
    if isinstance(tree, list | tuple):
        return [_deciding(value) for value in tree]
    return tree


def _without_size(given: Any) -> Any:
    if not isinstance(given, dict):
        return given
    return {name: value for name, value in given.items() if name not in SIZE_PARAMS}
