"""Paginators of a manifest as `paginator`, with the parameters that they add."""

import ast
from collections.abc import Mapping
from typing import Any, NamedTuple

from headgate.handlers.extract.importing.conditions import condition
from headgate.handlers.extract.importing.imported import NotConvertible
from headgate.handlers.extract.importing.jinja import (
    Reference,
    jmespath,
    literal,
    only_expression,
    reference,
    shown,
)
from headgate.handlers.extract.importing.values import Filling, Tree

TOKEN = "next_page_token"  # noqa: S105  a name in expressions


class ImportedPaging(NamedTuple):
    words: dict[str, Any]
    params: Mapping[str, Any] = {}
    """Parameters of every page."""
    json: Mapping[str, Any] = {}
    """Members of the body of every page."""

    @property
    def is_numbered(self) -> bool:
        return self.words["type"] in {"offset", "page_number"}


class PagedListing(NamedTuple):
    """What a paginator must know about the listing."""

    filling: Filling
    steps: tuple[str, ...] | None = ()
    """The way from the reply to its rows; None if it leads to several places."""
    token_param: str = ""
    """The parameter that has the token, where the parameters of the stream say it."""

    @property
    def way(self) -> tuple[str, ...]:
        if self.steps is None:
            raise NotConvertible("paging by rows that are in several places of a reply")
        return self.steps


def paging_of(tree: Tree | None, listing: PagedListing) -> ImportedPaging:
    """The words of a paginator; a stream without one has a single page."""
    if not tree or tree.get("type") == "NoPagination":
        return ImportedPaging({"type": "single_page"})
    if tree.get("type") != "DefaultPaginator":
        raise NotConvertible(f"the paginator {tree.get('type')}")
    strategy = tree.get("pagination_strategy") or {}
    make = _STRATEGIES.get(str(strategy.get("type")))
    if make is None:
        raise NotConvertible(f"the pagination {strategy.get('type')}")
    return make(tree, strategy, listing)


def _offset(tree: Tree, strategy: Tree, listing: PagedListing) -> ImportedPaging:
    size = _size(strategy, listing)
    words: dict[str, Any] = {"type": "offset", "limit": size or 100, "limit_param": ""}
    words |= _placed(tree.get("page_token_option"), "offset", listing)
    words |= _placed(tree.get("page_size_option"), "limit", listing)
    return ImportedPaging({**words, "ends": "short" if size else "empty"})


def _page(tree: Tree, strategy: Tree, listing: PagedListing) -> ImportedPaging:
    size = _size(strategy, listing)
    words: dict[str, Any] = {
        "type": "page_number",
        "base_page": int(strategy.get("start_from_page") or 0),
    }
    words |= _placed(tree.get("page_token_option"), "page", listing)
    more = _page_size(tree, size, listing)
    if size:
        words["limit"] = size
    return ImportedPaging({**words, "ends": "short" if size else "empty"}, *more)


def _cursor(tree: Tree, strategy: Tree, listing: PagedListing) -> ImportedPaging:
    size = _size(strategy, listing)
    words = _next(strategy.get("cursor_value"), tree.get("page_token_option"), listing)
    words |= _end(strategy.get("stop_condition"), listing)
    return ImportedPaging(words, *_page_size(tree, size, listing))


_STRATEGIES = {
    "CursorPagination": _cursor,
    "OffsetIncrement": _offset,
    "PageIncrement": _page,
}


def _size(strategy: Tree, listing: PagedListing) -> int | None:
    size = strategy.get("page_size")
    if size is None or isinstance(size, int):
        return size
    node = only_expression(size)
    value = literal(node) if node is not None else size
    found = None if node is None else reference(node)
    if found is not None and found.root == "config":
        listing.filling.settings.placeholder(found)
        value = listing.filling.settings.defaults.pop("_".join(map(str, found.steps)), None)
    if str(value).isdecimal():
        return int(str(value))
    raise NotConvertible(f"the page size {shown(size)}")


def _page_size(
    tree: Tree, size: int | None, listing: PagedListing
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameter, or the member of the body, that asks for the size of a page."""
    option = tree.get("page_size_option")
    if not option or size is None:
        return {}, {}
    name = listing.filling.text(_name(option))
    if option.get("inject_into") == "request_parameter":
        return {name: size}, {}
    if option.get("inject_into") == "body_json":
        return {}, {name: size}
    raise NotConvertible(f"a page size in {option.get('inject_into')}")


def _placed(option: Tree | None, word: str, listing: PagedListing) -> dict[str, str]:
    """Where a number of the paging is sent."""
    if not option:
        if word == "limit":
            return {}
        if listing.token_param:
            return {f"{word}_param": listing.token_param}
        raise NotConvertible("pages whose number is sent neither as a parameter nor in the body")
    where = option.get("inject_into")
    if where == "request_parameter":
        return {f"{word}_param": listing.filling.text(_name(option))}
    if where == "body_json":
        return {f"{word}_body_path": _name(option)}
    raise NotConvertible(f"a page's number in {where or option.get('type')}")


def _next(value: object, option: Tree | None, listing: PagedListing) -> dict[str, Any]:
    node = only_expression(value)
    found = _unconditional(node) if node is not None else None
    if found is None:
        raise NotConvertible(f"the cursor {shown(value)}")
    is_path = option is not None and option.get("type") == "RequestPath"
    if found.root == "headers":
        return _header(found, option, listing, is_path=is_path)
    path = _reply_path(found, listing)
    if is_path:
        return {"type": "json_link", "next_url_path": path}
    return {"type": "cursor", "cursor_path": path, **_cursor_place(option, listing)}


def _header(
    found: Reference, option: Tree | None, listing: PagedListing, *, is_path: bool
) -> dict[str, Any]:
    steps = [str(step) for step in found.steps]
    if is_path and [step.lower() for step in steps] == ["link", "next", "url"]:
        return {"type": "header_link", "ends": "no_next"}
    if len(steps) != 1:
        raise NotConvertible(f"the cursor in the headers at {shown('.'.join(steps))}")
    words = {"type": "header_cursor", "cursor_key": steps[0]}
    return words if is_path else {**words, **_cursor_place(option, listing)}


def _reply_path(found: Reference, listing: PagedListing) -> str:
    if found.root == "response" and found.steps:
        return jmespath(found.steps)
    steps = found.steps
    if found.root == "last_records" and steps[:1] == (-1,):
        steps = steps[1:]
    elif found.root != "last_record":
        raise NotConvertible(f"the cursor at {shown('.'.join([found.root, *map(str, steps)]))}")
    if not steps:
        raise NotConvertible("a cursor that is the whole last row")
    return f"{jmespath(listing.way)}[-1].{jmespath(steps)}"


def _cursor_place(option: Tree | None, listing: PagedListing) -> dict[str, str]:
    if not option:
        if listing.token_param:
            return {"cursor_param": listing.token_param}
        raise NotConvertible("a cursor that is sent neither as a parameter nor in the body")
    where = option.get("inject_into")
    if where == "request_parameter":
        return {"cursor_param": listing.filling.text(_name(option))}
    if where == "body_json":
        return {"cursor_body_path": _name(option)}
    raise NotConvertible(f"a cursor in {where}")


def _unconditional(node: ast.expr) -> Reference | None:
    """The value of a cursor; `x if x else none` and `x or none` are the same as x."""
    if isinstance(node, ast.IfExp) and not literal(node.orelse):
        return reference(node.body)
    return reference(node)


def _end(stop: object, listing: PagedListing) -> dict[str, Any]:
    """How a chain ends; without a condition, at the page that names no next one."""
    node = only_expression(stop)
    if node is None or literal(node) is False:
        return {"ends": "no_next"}
    rest = [each for each in _alternatives(node) if not _is_natural(each)]
    if not rest:
        return {"ends": "no_next"}
    more = [condition(_OverReply(listing).visit(each), "response", holds=False) for each in rest]
    text = more[0] if len(more) == 1 else " && ".join(f"({each})" for each in more)
    return {"has_more_path": text, "ends": "flag"}


class _OverReply(ast.NodeTransformer):
    """Says what is known about the rows of a page as an expression over the reply."""

    def __init__(self, listing: PagedListing) -> None:
        self._listing = listing

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id == "last_page_size":
            return ast.Call(ast.Name("len"), [self._rows()], [])
        return self._rows() if node.id == "last_records" else node

    def _rows(self) -> ast.expr:
        rows: ast.expr = ast.Name("response")
        for step in self._listing.way:
            rows = ast.Subscript(rows, ast.Constant(step))
        return rows


def _alternatives(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return [each for value in node.values for each in _alternatives(value)]
    return [node]


def _is_natural(node: ast.expr) -> bool:
    """A chain ends so anyway: there is no next link, or the page is empty and names none."""
    text = ast.unparse(node)
    is_header = "headers" in text and ("next" in text or "link" in text.lower())
    return is_header or text.startswith("not headers")


def _name(option: Tree) -> str:
    path = option.get("field_path")
    return ".".join(map(str, path)) if path else str(option.get("field_name") or "")
