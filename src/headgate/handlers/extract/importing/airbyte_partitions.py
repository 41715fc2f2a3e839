"""Partition routers of a manifest: the listings that a stream consists of."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from headgate.handlers.extract.importing.airbyte_stream import Partition
from headgate.handlers.extract.importing.imported import NotConvertible
from headgate.handlers.extract.importing.jinja import jmespath, only_expression, reference
from headgate.handlers.extract.importing.values import ConnectorSettings, Tree

MOST_VALUES: Final = 50


class PartitionedStream(NamedTuple):
    """A stream whose partitions are wanted."""

    name: str
    tree: Tree
    settings: ConnectorSettings
    parent: Callable[[Tree], str]
    """Converts the parent stream and gives its name."""


def partitions_of(stream: PartitionedStream) -> list[tuple[str, Partition]]:
    """Names and partitions: one for each value of a list, else only one."""
    routers = (stream.tree.get("retriever") or {}).get("partition_router") or []
    routers = routers if isinstance(routers, list) else [routers]
    found = [(stream.name, Partition())]
    for router in routers:
        kind = router.get("type")
        if kind == "SubstreamPartitionRouter":
            added = [("", _substream(router, stream))]
        elif kind == "ListPartitionRouter":
            added = _values(router, stream)
        else:
            raise NotConvertible(str(kind))
        found = [
            (name + suffix, _joined(before, after))
            for name, before in found
            for suffix, after in added
        ]
    return found


def _joined(before: Partition, after: Partition) -> Partition:
    if before.parent and after.parent:
        raise NotConvertible("several parents")
    return Partition(
        {**before.fields, **after.fields},
        {**before.params, **after.params},
        before.parent or after.parent,
        before.parent_key or after.parent_key,
    )


def _substream(router: Tree, stream: PartitionedStream) -> Partition:
    parents = router.get("parent_stream_configs") or []
    if len(parents) != 1:
        raise NotConvertible("several parents")
    config = parents[0]
    if config.get("type", "ParentStreamConfig") != "ParentStreamConfig":
        raise NotConvertible(str(config["type"]))
    parent = stream.parent(config.get("stream") or {})
    key = str(config.get("parent_key") or "id")
    path = key if re.fullmatch(r"\w+(\.\w+)*", key) else jmespath([key])
    template = f"{{resources.{parent}.{path}}}"
    params = _params(config.get("request_option"), template)
    return Partition({str(config.get("partition_field")): template}, params, parent, key)


def _values(router: Tree, stream: PartitionedStream) -> list[tuple[str, Partition]]:
    field = str(router.get("cursor_field") or "")
    values: Any = router.get("values")
    if isinstance(values, str):
        node = only_expression(values)
        found = None if node is None else reference(node)
        if found is None or found.root != "config" or not found.steps:
            raise NotConvertible("a list of values that an expression makes")
        template = stream.settings.placeholder(found).replace("?}", "}")
        return [("", _value(router, field, template))]
    if not isinstance(values, list) or not 0 < len(values) <= MOST_VALUES:
        raise NotConvertible(f"a list of more than {MOST_VALUES} values")
    return [(_suffix(each), _value(router, field, _escaped(str(each)))) for each in values]


def _value(router: Tree, field: str, template: str) -> Partition:
    return Partition({field: template}, _params(router.get("request_option"), template))


def _params(option: Any, template: str) -> Mapping[str, str]:
    if not option:
        return {}
    if option.get("inject_into") != "request_parameter":
        raise NotConvertible(f"the value of a partition in {option.get('inject_into')}")
    return {str(option.get("field_name")): template}


def _suffix(value: object) -> str:
    return "." + re.sub(r"[^A-Za-z0-9_-]+", "_", str(value))[:30]


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
