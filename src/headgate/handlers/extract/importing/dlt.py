"""Turns a REST configuration of dlt into a source; nearly all of its words are ours."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from headgate.core.errors import UsageError
from headgate.handlers.extract.importing.checking import binding_problem
from headgate.handlers.extract.importing.imported import (
    ImportedSource,
    LeftOut,
    NotConvertible,
    Notes,
    read_bytes,
)

Tree = Mapping[str, Any]
_TABLE: Final = frozenset(
    {
        *(
            "columns",
            "file_format",
            "max_table_nesting",
            "merge_key",
            "nested_hints",
            "parallelized",
        ),
        *(
            "references",
            "schema_contract",
            "spec",
            "table_format",
            "table_name",
            "write_disposition",
        ),
    }
)
"""Words about the tables of a destination; a mirror keeps rows as they are."""
_CODE: Final = frozenset({"convert", "processing_steps", "response_hooks", "session"})
"""Words that take functions."""
_PAGINATORS: Final = {
    "page_number": "page_number",
    "json_response": "json_link",
    "json_response_cursor": "cursor",
}
"""Older names of paginators."""
_PATHS: Final = frozenset(
    {"cursor_path", "data_selector", "has_more_path", "next_url_path", "total_path"}
)
_SECRETS: Final = frozenset({"api_key", "client_secret", "password", "token"})


def read_config(path: Path) -> dict[str, Any]:
    """The tree in a JSON file; UsageError if it cannot be read."""
    if path.suffix == ".py":
        raise UsageError(
            f"{path}: a Python file is not run; let it print json.dumps(config), and import that"
        )
    try:
        tree = msgspec.json.decode(read_bytes(path))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: the file is not valid JSON: {error}") from None
    if not isinstance(tree, dict) or not isinstance(tree.get("client"), dict):
        raise UsageError(f"{path}: this is not a REST configuration of dlt: it has no `client`")
    return tree


def import_dlt(config: Tree, name: str) -> ImportedSource:
    """The source that a configuration describes; what it cannot say is left out and named."""
    notes = Notes()
    defaults = config.get("resource_defaults") or {}
    client = _client(config.get("client") or {}, name, notes)
    left_out: list[LeftOut] = []
    kept: list[Any] = []
    for resource in config.get("resources") or []:
        stream = _name(resource)
        try:
            kept.append(_resource(resource, stream, notes))
        except NotConvertible as error:
            left_out.append(LeftOut(stream, str(error)))
    tree: dict[str, Any] = {"name": name, "client": client}
    if defaults:
        tree["resource_defaults"] = _without_name(_resource(defaults, "resource_defaults", notes))
    return _checked({**tree, "resources": kept}, left_out, notes)


def _checked(tree: dict[str, Any], left_out: list[LeftOut], notes: Notes) -> ImportedSource:
    while tree["resources"]:
        problem = binding_problem({**tree, "resources": _objects(tree["resources"])})
        if problem is None:
            return ImportedSource(tree, tuple(left_out), notes.all())
        stream, reason = problem
        if not stream:
            raise UsageError(f"the configuration cannot be converted: {reason}")
        left_out.append(LeftOut(stream, reason))
        kept = [each for each in tree["resources"] if _name(each) != stream]
        tree = {**tree, "resources": kept}
    return ImportedSource({}, tuple(left_out), notes.all())


def _objects(resources: list[Any]) -> list[Any]:
    return [
        {"name": each, "endpoint": each} if isinstance(each, str) else each for each in resources
    ]


def _name(resource: Any) -> str:
    return str(resource.get("name", "resource") if isinstance(resource, Mapping) else resource)


def _without_name(resource: Any) -> Any:
    return {key: value for key, value in resource.items() if key != "name"}


def _client(client: Tree, name: str, notes: Notes) -> dict[str, Any]:
    found = {key: value for key, value in client.items() if key not in {"session", "auth"}}
    if "paginator" in found:
        found["paginator"] = _paginator(found["paginator"])
    if auth := client.get("auth"):
        found["auth"] = _auth(auth, name, notes)
    return {key: value for key, value in found.items() if value is not None}


def _auth(auth: Any, name: str, notes: Notes) -> dict[str, Any]:
    """An auth whose secrets come from the environment."""
    words = {"type": auth} if isinstance(auth, str) else dict(auth)
    words.setdefault("type", "bearer")
    prefix = re.sub(r"\W+", "_", name).strip("_").upper() or "SOURCE"
    for word in sorted(_SECRETS & words.keys() | _needed(words["type"])):
        if isinstance(words.get(word), Mapping):
            continue
        variable = f"{prefix}_{word}".upper()
        words[word] = {"env": variable}
        notes.add(f"client.auth: put the secret {word} into the environment variable {variable}")
    return words


def _needed(kind: object) -> set[str]:
    return {"bearer": {"token"}, "api_key": {"api_key"}, "http_basic": {"password"}}.get(
        str(kind), set()
    )


def _resource(resource: Any, stream: str, notes: Notes) -> Any:
    if isinstance(resource, str):
        return resource
    found: dict[str, Any] = {}
    for key, value in resource.items():
        if key in _CODE:
            raise NotConvertible(f"{key}, which is a function")
        if key in _TABLE or value is None:
            if key in _TABLE:
                notes.add(f"{stream}: {key} is left out; a mirror keeps rows as they are")
        elif key == "endpoint":
            found[key] = _endpoint(value)
        else:
            found[key] = value
    return found


def _endpoint(endpoint: Any) -> Any:
    if isinstance(endpoint, str):
        return endpoint
    found = {key: value for key, value in endpoint.items() if value is not None}
    if code := _CODE & found.keys():
        raise NotConvertible(f"{min(code)}, which is a function")
    if "data" in found:
        raise NotConvertible("a form as the body of its requests")
    if found.get("auth"):
        raise NotConvertible("an auth of its own")
    found.pop("auth", None)
    if "paginator" in found:
        found["paginator"] = _paginator(found["paginator"])
    params, resolved = _resolved(found.get("params") or {})
    params, incremental = _incremental(params, found.get("incremental"))
    found["params"] = params
    if incremental:
        found["incremental"] = incremental
    for param, template in resolved.items():
        found["path"] = str(found.get("path", "")).replace(f"{{{param}}}", template)
    if isinstance(found.get("data_selector"), str):
        found["data_selector"] = _path(found["data_selector"])
    return {key: value for key, value in found.items() if value not in ({}, [])}


def _paginator(paginator: Any) -> dict[str, Any]:
    words = {"type": paginator} if isinstance(paginator, str) else dict(paginator)
    kind = words.get("type", "auto")
    if kind == "auto":
        raise NotConvertible(
            "the paginator `auto`; `headgate extract detect URL` finds out which one it is"
        )
    words["type"] = _PAGINATORS.get(kind, kind)
    return {
        key: _path(value) if key in _PATHS and isinstance(value, str) else value
        for key, value in words.items()
        if value is not None
    }


def _resolved(params: Tree) -> tuple[dict[str, Any], dict[str, str]]:
    """The parameters that do not depend on a parent's row, and templates for the others."""
    kept, found = {}, {}
    for name, value in params.items():
        if isinstance(value, Mapping) and value.get("type") == "resolve":
            found[name] = f"{{resources.{value['resource']}.{value['field']}}}"
        else:
            kept[name] = value
    return kept, found


def _incremental(params: Tree, given: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters, and `incremental`, which dlt also takes inside a parameter."""
    found = dict(given or {})
    kept: dict[str, Any] = {}
    for name, value in params.items():
        if isinstance(value, Mapping) and value.get("type") == "incremental":
            found = {**value, "start_param": name}
            found.pop("type")
        else:
            kept[name] = value
    if "convert" in found:
        raise NotConvertible("convert, which is a function")
    known = ("cursor_path", "initial_value", "start_param", "end_param", "lag")
    return kept, {key: found[key] for key in known if found.get(key) is not None}


def _path(text: str) -> str:
    """JSONPath of simple forms as JMESPath."""
    return text.removeprefix("$.").removesuffix("[*]") if text != "$" else ""
