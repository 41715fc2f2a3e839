"""One stream of a manifest as a resource."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from headgate.handlers.extract.importing.airbyte_changes import incremental_of
from headgate.handlers.extract.importing.airbyte_paging import (
    TOKEN,
    ImportedPaging,
    PagedListing,
    paging_of,
)
from headgate.handlers.extract.importing.airbyte_rows import key_of, selector_of, steps_of
from headgate.handlers.extract.importing.imported import NotConvertible, Notes
from headgate.handlers.extract.importing.jinja import only_expression, reference
from headgate.handlers.extract.importing.values import ConnectorSettings, Filling, Tree

_ACTIONS: Final = {"IGNORE": "ignore", "FAIL": "fail", "RETRY": "retry", "RATE_LIMITED": "retry"}
_LIMITED: Final = 429
"""A status that Headgate understands by itself."""


class Partition(NamedTuple):
    """For what a stream is listed: each row of a parent, or one of several values."""

    fields: Mapping[str, str] = {}
    """Templates by the fields of `stream_partition`."""
    params: Mapping[str, str] = {}
    parent: str = ""
    parent_key: str = ""


class StreamParts(NamedTuple):
    """What the conversion of one stream works with."""

    name: str
    tree: Tree
    partition: Partition
    settings: ConnectorSettings
    notes: Notes

    def note(self, text: str) -> None:
        self.notes.add(f"{self.name}: {text}")

    @property
    def retriever(self) -> Tree:
        return self.tree.get("retriever") or {}

    @property
    def requester(self) -> Tree:
        return self.retriever.get("requester") or {}


def stream_name(tree: Tree) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", str(tree.get("name") or "stream")).strip("_")[:64]


def convert_stream(stream: StreamParts) -> dict[str, Any]:
    """The words of a resource, with the base of its URL under `base`; NotConvertible says why not.

    Its authenticator is converted apart, since a source has one for all streams.
    """
    _check_kinds(stream)
    filling = Filling(stream.settings, stream.partition.fields)
    incremental = incremental_of(stream, filling)
    paging = _paging(stream, filling)
    params = _params(stream, filling)
    endpoint: dict[str, Any] = {
        "path": _path(stream.requester, filling),
        "params": {**params, **stream.partition.params, **paging.params},
        "headers": _headers(stream, filling),
        "data_selector": selector_of(stream, paging),
        "paginator": paging.words,
        "response_actions": _actions(stream),
        "incremental": incremental,
        **_body(stream, filling, paging),
    }
    resource = {
        "name": stream.name,
        "primary_key": key_of(stream),
        "include_from_parent": _included(stream),
        "endpoint": {name: value for name, value in endpoint.items() if value},
        "base": filling.text(stream.requester.get("url_base") or ""),
    }
    return {name: value for name, value in resource.items() if value}


def _check_kinds(stream: StreamParts) -> None:
    kinds = (
        (stream.tree, "DeclarativeStream"),
        (stream.retriever, "SimpleRetriever"),
        (stream.requester, "HttpRequester"),
        (stream.retriever.get("decoder") or stream.requester.get("decoder"), "JsonDecoder"),
    )
    for tree, wanted in kinds:
        if tree and tree.get("type", wanted) != wanted:
            raise NotConvertible(str(tree["type"]))
    if stream.requester.get("fetch_properties_from_endpoint") or stream.requester.get(
        "query_properties"
    ):
        raise NotConvertible("QueryProperties")
    if stream.retriever.get("pagination_reset"):
        raise NotConvertible("PaginationReset")


def _paging(stream: StreamParts, filling: Filling) -> ImportedPaging:
    token = next(
        (name for name, value in _given(stream).items() if _is_token(value)),
        "",
    )
    listing = PagedListing(filling, steps_of(stream), token)
    return paging_of(stream.retriever.get("paginator"), listing)


def _given(stream: StreamParts) -> Mapping[str, Any]:
    params = stream.requester.get("request_parameters") or {}
    if not isinstance(params, Mapping):
        raise NotConvertible("parameters that one expression makes")
    return params


def _is_token(value: object) -> bool:
    return isinstance(value, str) and TOKEN in value


def _params(stream: StreamParts, filling: Filling) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in _given(stream).items():
        if _is_token(value):
            continue
        if filling.is_end(value):
            stream.note(f"the parameter {name}, an upper bound of time, is not sent")
            continue
        if not isinstance(value, str | int | float | bool | None):
            raise NotConvertible(f"the parameter {name}, which is not a text")
        found[filling.text(name)] = filling.text(value)
    return {name: value for name, value in found.items() if value}


def _headers(stream: StreamParts, filling: Filling) -> dict[str, str]:
    headers = stream.requester.get("request_headers") or {}
    if not isinstance(headers, Mapping):
        raise NotConvertible("headers that one expression makes")
    return {str(name): filling.text(value) for name, value in headers.items()}


def _path(requester: Tree, filling: Filling) -> str:
    if requester.get("url"):
        return filling.text(requester["url"])
    return filling.text(str(requester.get("path") or "").strip())


def _body(stream: StreamParts, filling: Filling, paging: ImportedPaging) -> dict[str, Any]:
    requester = stream.requester
    method = str(requester.get("http_method") or "GET").upper()
    if method not in {"GET", "POST"}:
        raise NotConvertible(f"the method {method}")
    if requester.get("request_body_data"):
        raise NotConvertible("a form as the body of its requests")
    declared = requester.get("request_body") or {}
    if declared and declared.get("type") != "RequestBodyJsonObject":
        raise NotConvertible(str(declared.get("type") or "a body of its requests"))
    given = declared.get("value") or requester.get("request_body_json") or {}
    if not isinstance(given, Mapping):
        raise NotConvertible("a body that one expression makes")
    if method == "GET":
        if given or paging.json:
            raise NotConvertible("a GET with a body")
        return {}
    kept = {name: value for name, value in given.items() if not _is_token(value)}
    return {"method": method, "json": {**filling.value(kept), **paging.json}}


def _actions(stream: StreamParts) -> list[dict[str, Any]]:
    handler = stream.requester.get("error_handler") or {}
    handlers = handler.get("error_handlers") or [handler]
    found: list[dict[str, Any]] = []
    for each in handlers:
        if str(each.get("type", "")).startswith("Custom"):
            raise NotConvertible(str(each["type"]))
        for rule in each.get("response_filters") or []:
            found += _actions_of(rule, stream)
    return found


def _actions_of(rule: Tree, stream: StreamParts) -> list[dict[str, Any]]:
    action = _ACTIONS.get(str(rule.get("action")))
    if action is None:
        return []
    if rule.get("predicate"):
        stream.note(f"the rule for replies `{str(rule['predicate'])[:80]}` is left out")
        return []
    content = str(rule.get("error_message_contains") or "")
    codes = [code for code in rule.get("http_codes") or [] if int(code) != _LIMITED]
    if not codes and content:
        return [{"action": action, "content": content}]
    extra = {"content": content} if content else {}
    return [{"action": action, "status_code": int(code), **extra} for code in codes]


def _included(stream: StreamParts) -> list[str]:
    """The parent's field, where the original adds it to the rows."""
    partition = stream.partition
    for change in stream.tree.get("transformations") or []:
        for field in change.get("fields") or []:
            node = only_expression(field.get("value")) if isinstance(field, Mapping) else None
            found = None if node is None else reference(node)
            if partition.parent and found and found.steps[:1] and found.root.startswith("stream_"):
                return [partition.parent_key] if "." not in partition.parent_key else []
    return []
