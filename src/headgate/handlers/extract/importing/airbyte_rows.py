"""The rows of a stream of a manifest: where they are in a reply, and what identifies them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from headgate.handlers.extract.importing.conditions import condition
from headgate.handlers.extract.importing.imported import NotConvertible
from headgate.handlers.extract.importing.jinja import jmespath, only_expression, reference
from headgate.handlers.extract.reading import CONTENT

if TYPE_CHECKING:
    from headgate.handlers.extract.importing.airbyte_paging import ImportedPaging
    from headgate.handlers.extract.importing.airbyte_stream import StreamParts

_RENAMES: Final = frozenset(
    {"CustomTransformation", "KeysReplace", "KeysToLower", "KeysToSnakeCase"}
)


def steps_of(stream: "StreamParts") -> tuple[str, ...] | None:
    """The way from a reply to its rows; None if it leads to several places."""
    path = _path(stream)
    return None if "*" in path else path


def _path(stream: "StreamParts") -> tuple[str, ...]:
    extractor = (stream.retriever.get("record_selector") or {}).get("extractor") or {}
    if extractor.get("type", "DpathExtractor") != "DpathExtractor":
        raise NotConvertible(str(extractor["type"]))
    path = tuple(str(step) for step in extractor.get("field_path") or [])
    if any("{{" in step for step in path):
        raise NotConvertible("rows at a place that an expression names")
    if path.count("*") > 1:
        raise NotConvertible("rows at several levels of a reply (`*` twice in field_path)")
    return path


def _rows_at(path: tuple[str, ...]) -> str:
    """JMESPath for rows; a `*` of the original stands for a list as well as for an object."""
    if "*" not in path:
        return jmespath(path)
    place = path.index("*")
    before, after = jmespath(path[:place]), jmespath(path[place + 1 :])
    rest = f".{after}" if after else ""
    members = f"{before}.*" if before else "*"
    return f"({before}[*]{rest} || {members}{rest} || `[]`)"


def selector_of(stream: "StreamParts", paging: "ImportedPaging") -> str:
    """JMESPath for the rows, with the filter of the original where that cannot end a listing."""
    selector = _rows_at(_path(stream))
    tree = (stream.retriever.get("record_selector") or {}).get("record_filter") or {}
    text = tree.get("condition")
    if tree.get("type", "RecordFilter") != "RecordFilter":
        raise NotConvertible(str(tree["type"]))
    if not text:
        return selector
    try:
        node = only_expression(text)
        kept = condition(node, "record") if node is not None and not paging.is_numbered else ""
    except NotConvertible:
        kept = ""
    if not kept:
        stream.note("rows that the original filters out are kept")
        return selector
    return f"{selector}[?{kept}]"


def key_of(stream: "StreamParts") -> Any:
    """The primary key; the content of a row where the original has none that the source sends."""
    added = _added(stream)
    names = _names(stream.tree.get("primary_key")) or _guessed(stream)
    keys = [_key(name, added) for name in names]
    if not all(keys):
        keys = []
    if not keys:
        stream.note(
            "no field is known to identify a row, so its content does; name a primary_key if one is"
        )
        keys = ["_parent.id", CONTENT] if stream.partition.parent else [CONTENT]
    return keys[0] if len(keys) == 1 else keys


def _names(given: Any) -> list[str]:
    if isinstance(given, str):
        return [given] if given else []
    if not isinstance(given, Sequence):
        return []
    return [
        jmespath([str(step) for step in each]) if isinstance(each, list) else jmespath([str(each)])
        for each in given
    ]


def _guessed(stream: "StreamParts") -> list[str]:
    loader = stream.tree.get("schema_loader") or {}
    loaders = loader if isinstance(loader, list) else [loader]
    properties: dict[str, Any] = {}
    for each in loaders:
        schema = each.get("schema") if isinstance(each, Mapping) else None
        properties |= (schema.get("properties") or {}) if isinstance(schema, Mapping) else {}
    if "id" not in properties:
        return []
    stream.note("the original has no primary key; 'id' is taken as it")
    return ["id"]


def _added(stream: "StreamParts") -> dict[str, Any]:
    """The fields that transformations add."""
    added: dict[str, Any] = {}
    for change in stream.tree.get("transformations") or []:
        kind = str(change.get("type"))
        if kind in _RENAMES:
            raise NotConvertible(kind)
        if kind == "AddFields":
            fields = change.get("fields") or []
            added |= {jmespath([str(step) for step in each["path"]]): each for each in fields}
        elif kind != "RemoveFields":
            stream.note(f"rows are kept as they are received, without {kind}")
    if added:
        stream.note(
            f"the original adds fields ({', '.join(list(added)[:5])}); rows are kept as received"
        )
    return added


def _key(name: str, added: Mapping[str, Any]) -> str:
    """The path of a key in a row as it is received; empty if an expression makes it."""
    if name not in added:
        return name
    node = only_expression(added[name].get("value"))
    found = None if node is None else reference(node)
    if found is not None and found.root in {"stream_partition", "stream_slice"}:
        return "_parent.id"
    if found is not None and found.root == "record" and found.steps:
        return jmespath(found.steps)
    return ""
