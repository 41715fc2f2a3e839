"""Changes that a command line makes to a source before it is parsed: its rate, its page size."""

from collections.abc import Mapping
from typing import Any, Final

from headgate.core.errors import UsageError
from headgate.handlers.extract.paging.shape import SIZE_PARAMS

_SIZED: Final = frozenset({"offset", "page_number", "keyset"})
"""Paginators that may send the number of rows themselves."""
Tree = Mapping[str, Any]


def with_rate(tree: Tree, rate: str) -> dict[str, Any]:
    """The source with another limit on its requests."""
    return {**tree, "client": {**_object(tree.get("client")), "rate": rate}}


def with_page_size(tree: Tree, rows: int) -> dict[str, Any]:
    """The source with pages of `rows` rows; UsageError if it names no parameter for that."""
    changed = _resized(tree, rows)
    if changed == tree and rows not in _sizes(tree):
        raise UsageError(
            "--batch-size: the source does not say which parameter has the number of rows; write"
            " `limit_param` into its paginator, or the parameter into `params`"
        )
    return changed


def _resized(tree: Tree, rows: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in tree.items():
        if name == "paginator" and isinstance(value, str | Mapping):
            found[name] = _paginator(value, rows)
        elif name == "params" and isinstance(value, Mapping):
            found[name] = {
                each: rows if each in SIZE_PARAMS else old for each, old in value.items()
            }
        elif isinstance(value, Mapping):
            found[name] = _resized(value, rows)
        elif name == "resources" and isinstance(value, list):
            found[name] = [
                _resized(each, rows) if isinstance(each, Mapping) else each for each in value
            ]
        else:
            found[name] = value
    return found


def _paginator(value: str | Tree, rows: int) -> Any:
    if isinstance(value, str):
        return {"type": value, "limit": rows} if value == "offset" else value
    kind = value.get("type")
    sends_size = kind == "offset" or (kind in _SIZED and value.get("limit_param"))
    return {**value, "limit": rows} if sends_size else value


def _sizes(tree: Any) -> set[Any]:
    """The page sizes that a source names already."""
    if isinstance(tree, list):
        return set().union(*map(_sizes, tree)) if tree else set()
    if not isinstance(tree, Mapping):
        return set()
    named = {
        value
        for name, value in tree.items()
        if (name == "limit" or name in SIZE_PARAMS) and isinstance(value, int)
    }
    return named.union(*(_sizes(value) for value in tree.values()))


def _object(value: object) -> Tree:
    return value if isinstance(value, Mapping) else {}
