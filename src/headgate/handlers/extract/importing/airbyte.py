"""Turns a declarative manifest of Airbyte into a source, stream by stream."""

import re
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import msgspec

from headgate.core.errors import UsageError
from headgate.handlers.extract.importing.airbyte_auth import auth_of
from headgate.handlers.extract.importing.airbyte_changes import span
from headgate.handlers.extract.importing.airbyte_partitions import PartitionedStream, partitions_of
from headgate.handlers.extract.importing.airbyte_stream import (
    StreamParts,
    convert_stream,
    stream_name,
)
from headgate.handlers.extract.importing.checking import binding_problem
from headgate.handlers.extract.importing.imported import (
    ImportedSource,
    LeftOut,
    NotConvertible,
    Notes,
    read_bytes,
)
from headgate.handlers.extract.importing.manifest import written_out
from headgate.handlers.extract.importing.placing import with_bases
from headgate.handlers.extract.importing.values import ConnectorSettings, Tree

_SPANS: Final = {1: "s", 60: "min", 3_600: "h", 86_400: "d"}


def read_manifest(path: Path) -> dict[str, Any]:
    """The tree in a manifest; UsageError if it cannot be read."""
    if find_spec("yaml") is None:
        raise UsageError('this needs PyYAML: pip install "headgate[yaml]"')
    yaml: Any = import_module("yaml")
    try:
        tree = yaml.safe_load(read_bytes(path))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise UsageError(f"{path}: the file is not valid YAML: {str(error)[:200]}") from None
    if not isinstance(tree, dict) or not ({"streams", "dynamic_streams"} & tree.keys()):
        raise UsageError(f"{path}: this is not a manifest of Airbyte: it has no `streams`")
    return tree


def import_airbyte(manifest: Tree, name: str) -> ImportedSource:
    """The source that a manifest describes; what it cannot say is left out and named."""
    return _Conversion(written_out(manifest), name).source()


class _Conversion:
    def __init__(self, manifest: Tree, name: str) -> None:
        self._manifest = manifest
        self._name = name
        self._settings = ConnectorSettings(manifest.get("spec") or {}, name)
        self._notes = Notes()
        self._listed: dict[str, Tree] = {}
        for each in manifest.get("streams") or []:
            tree = _whole_stream(each)
            self._listed.setdefault(stream_name(tree), tree)
        self._resources: dict[str, dict[str, Any]] = {}
        self._auths: dict[str, Any] = {}
        self._left_out: dict[str, str] = {}

    def source(self) -> ImportedSource:
        for name in list(self._listed):
            self._add(name, selected=True)
        for each in self._manifest.get("dynamic_streams") or []:
            self._left_out[str(each.get("name") or "dynamic streams")] = "DynamicDeclarativeStream"
        auth = self._common_auth()
        resources, client = with_bases(self._resources)
        if not resources:
            return ImportedSource({}, self._left(), self._notes.all())
        client |= {"rate": _rate(self._manifest.get("api_budget")), "auth": auth}
        tree: dict[str, Any] = {
            "name": self._name,
            "client": {name: value for name, value in client.items() if value},
            "values": self._settings.defaults,
            "resources": list(resources.values()),
        }
        tree = self._checked({name: value for name, value in tree.items() if value})
        self._tell_unproven(tree)
        return ImportedSource(tree, self._left(), self._notes.all())

    def _tell_unproven(self, tree: Tree) -> None:
        paginators = [each["endpoint"]["paginator"] for each in tree.get("resources", [])]
        if any(each["type"] in {"offset", "page_number"} for each in paginators):
            self._notes.add(
                "pages with numbers: a manifest says neither how many rows there are nor how they"
                " are sorted, so passes are unproven and delete nothing; add total_path,"
                " total_header or order if the API has them"
            )

    def _left(self) -> tuple[LeftOut, ...]:
        return tuple(LeftOut(name, reason) for name, reason in self._left_out.items())

    def _add(self, name: str, *, selected: bool) -> list[str]:
        """Convert a stream; the names of its resources, none if it is left out."""
        if name in self._resources:
            return [name]
        if name in self._left_out:
            return []
        tree = self._listed[name]
        try:
            found = partitions_of(PartitionedStream(name, tree, self._settings, self._parent))
            for own, partition in found:
                parts = StreamParts(own, tree, partition, self._settings, self._notes)
                resource = convert_stream(parts)
                self._auths[own] = auth_of(parts.requester.get("authenticator"), self._settings)
                self._resources[own] = resource if selected else {**resource, "selected": False}
        except NotConvertible as error:
            self._left_out[name] = str(error)
            return []
        return [own for own, _ in found]

    def _parent(self, tree: Tree) -> str:
        """The name of a parent stream, which is converted first."""
        whole = _whole_stream(tree)
        name = stream_name(whole)
        is_listed = name in self._listed
        self._listed.setdefault(name, whole)
        names = self._add(name, selected=is_listed)
        if len(names) != 1:
            why = self._left_out.get(name, "it is listed for several values")
            raise NotConvertible(f"its parent {name!r} is left out: {why}")
        return names[0]

    def _common_auth(self) -> Any:
        """The authenticator of most streams; streams with another one are left out."""
        texts = {name: _text(auth) for name, auth in self._auths.items() if auth}
        if not texts:
            return None
        common, _ = Counter(texts.values()).most_common(1)[0]
        for name, text in texts.items():
            if text != common:
                self._drop(name, "it uses another authenticator than most streams")
        return next(self._auths[name] for name, text in texts.items() if text == common)

    def _drop(self, name: str, reason: str) -> None:
        self._resources.pop(name, None)
        self._left_out[name] = reason
        for child, resource in list(self._resources.items()):
            if f"{{resources.{name}." in _text(resource):
                self._drop(child, f"its parent {name!r} is left out")

    def _checked(self, tree: dict[str, Any]) -> dict[str, Any]:
        """The tree without streams that the words of a source refuse."""
        while tree["resources"]:
            problem = binding_problem(tree)
            if problem is None:
                return tree
            name, reason = problem
            self._resources = {each["name"]: each for each in tree["resources"]}
            if name not in self._resources:
                raise UsageError(f"the manifest cannot be converted: {reason}")
            self._drop(name, reason)
            tree = {**tree, "resources": list(self._resources.values())}
        return {}


def _whole_stream(tree: Tree) -> Tree:
    """The stream that lists everything, where a stream is made of two."""
    if tree.get("type") == "StateDelegatingStream":
        full = tree.get("full_refresh_stream") or {}
        return {**full, "name": tree.get("name") or full.get("name")}
    return tree


def _rate(budget: Any) -> str:
    """The limits that hold for all requests."""
    found = []
    for policy in (budget or {}).get("policies") or []:
        if any(matcher for matcher in policy.get("matchers") or []):
            continue
        for rate in policy.get("rates") or []:
            seconds = re.fullmatch(r"(\d+)s", span(rate.get("interval")))
            unit = _SPANS.get(int(seconds[1])) if seconds else None
            if unit and str(rate.get("limit")).isdecimal():
                found.append(f"{rate['limit']}/{unit}")
    return ", ".join(found)


def _text(value: object) -> str:
    return msgspec.json.encode(value, order="sorted").decode()
