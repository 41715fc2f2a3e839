"""Streams that are listed for each row of another one."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from headgate.core.mirror import FollowUp
from headgate.handlers.extract.pages import PageItem, short_key
from headgate.handlers.extract.reading import Getter, ReadRow


class ChildStream(NamedTuple):
    """A stream that is listed for each row of another one."""

    name: str
    paths: Mapping[str, Getter]
    """The values of the parent's row that its requests need, by their placeholder."""
    included: Sequence[str]


def first_pages(child: ChildStream, parent: str, row: ReadRow, page: PageItem) -> list[FollowUp]:
    """The first page of a child's listing, or one for each value of a list in the parent's row."""
    values = {name: get(row.value) for name, get in child.paths.items()}
    lists = [name for name, value in values.items() if isinstance(value, list)]
    several = values[lists[0]] if lists else [None]
    found = []
    for number, each in enumerate(several):
        fills = {**values, lists[0]: each} if lists else values
        if any(value is None for value in fills.values()):
            continue
        included = {f"_{parent}_{name}": row.value.get(name) for name in child.included}
        scope = short_key(f"{row.id}#{number}" if lists else row.id)
        first = PageItem(
            child.name,
            "first",
            full=page.full,
            parent=row.id,
            fills=fills,
            included=included,
            scope=scope,
            without=page.without,
        )
        found.append(FollowUp(first.key("first"), _input(first), child.name))
    return found


def _input(page: PageItem) -> dict[str, Any]:
    tree: dict[str, Any] = msgspec.to_builtins(page)
    return tree


def one_of(follow: list[FollowUp], page: PageItem, row: ReadRow) -> FollowUp | None:
    """One item that stands for several: a changed row can bring only one."""
    if len(follow) < 2:
        return follow[0] if follow else None
    items = [[each.key, dict(each.input), each.checkpoint] for each in follow]
    several = PageItem(page.stream, "children", {"items": items})
    return FollowUp(
        PageItem(page.stream, scope=page.scope).key(f"children={short_key(row.id)}"),
        _input(several),
        follow[0].checkpoint,
    )
