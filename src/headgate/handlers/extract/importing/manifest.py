"""Writes out a manifest of Airbyte: its references and the parameters of its components."""

import re
from collections.abc import Mapping
from typing import Any, Final

from headgate.core.errors import UsageError

Tree = Mapping[str, Any]
DEEPEST: Final = 100
_USED: Final = frozenset({"api_budget", "dynamic_streams", "spec", "streams"})
"""Members of a manifest that say something by themselves; the others are referred to."""
_OPAQUE: Final = frozenset(
    {"request_body_data", "request_body_json", "request_headers", "request_parameters", "schema"}
)
"""Members that have keys of the API, not words of a manifest."""
_PARAMETER: Final = re.compile(
    r"\{\{\s*parameters(?:\[\s*['\"](\w+)['\"]\s*\]|\.get\(\s*['\"](\w+)['\"][^)]*\)|\.(\w+))\s*"
    r"(?:or\s+(?:''|\"\")\s*)?\}\}"
)


def written_out(manifest: Tree) -> dict[str, Any]:
    """A manifest without references and parameters; UsageError if they lead nowhere."""
    used = {name: each for name, each in manifest.items() if name in _USED}
    whole: dict[str, Any] = _with_parameters(_resolved(used, manifest, 0), {})
    return whole


def _resolved(value: Any, root: Tree, depth: int) -> Any:
    if depth > DEEPEST:
        raise UsageError("the references of the manifest lead in a circle")
    if isinstance(value, str) and value.startswith("#/"):
        return _resolved(_target(value, root), root, depth + 1)
    if isinstance(value, list):
        return [_resolved(each, root, depth + 1) for each in value]
    if not isinstance(value, Mapping):
        return value
    members = {
        name: _schema(each, root) if name == "schema" else _resolved(each, root, depth + 1)
        for name, each in value.items()
        if name != "$ref"
    }
    if "$ref" not in value:
        return members
    base = _resolved(_target(str(value["$ref"]), root), root, depth + 1)
    return {**base, **members} if isinstance(base, Mapping) else base


def _schema(value: Any, root: Tree) -> Any:
    """Only the top of a schema is read, and what is below it may be large."""
    if isinstance(value, Mapping) and isinstance(value.get("$ref"), str):
        return _target(value["$ref"], root)
    return value


def _target(reference: str, root: Tree) -> Any:
    found: Any = root
    for step in reference.removeprefix("#/").split("/"):
        if isinstance(found, Mapping) and step in found:
            found = found[step]
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            raise UsageError(f"the manifest has no {reference}, which it refers to")
    return found


def _with_parameters(value: Any, above: Tree) -> Any:
    """A component takes each member that it lacks from the parameters of those around it."""
    if isinstance(value, str):
        return _PARAMETER.sub(lambda found: _filled(found, above), value)
    if isinstance(value, list):
        return [_with_parameters(each, above) for each in value]
    if not isinstance(value, Mapping):
        return value
    here = {**above, **(value.get("$parameters") or {})}
    members = {name: each for name, each in value.items() if name != "$parameters"}
    if isinstance(members.get("type"), str):
        members = {**{name: each for name, each in here.items() if name != "type"}, **members}
    return {
        name: _texts(each, here)
        if name in _OPAQUE
        # A parameter may itself be a component: it must not be put into itself.
        else _with_parameters(each, {key: given for key, given in here.items() if key != name})
        for name, each in members.items()
    }


def _texts(value: Any, parameters: Tree) -> Any:
    if isinstance(value, Mapping):
        return {name: _texts(each, parameters) for name, each in value.items()}
    if isinstance(value, list):
        return [_texts(each, parameters) for each in value]
    return _with_parameters(value, parameters) if isinstance(value, str) else value


def _filled(found: re.Match[str], parameters: Tree) -> str:
    value = parameters.get(found[1] or found[2] or found[3])
    return found[0] if isinstance(value, Mapping | list) else str("" if value is None else value)
