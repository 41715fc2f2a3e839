"""Plans a pass: which streams are listed, in full or from where, and the first item of each."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from headgate.core.errors import UsageError
from headgate.core.item import NewItem
from headgate.core.mirror import PassMode
from headgate.core.time_text import parse_span
from headgate.core.watermark import since
from headgate.handlers.extract.description import Incremental, Resource, SourceDescription
from headgate.handlers.extract.pages import PageItem
from headgate.handlers.extract.source import parent_of
from headgate.ports.mirrors import (
    NewCheckpoint,
    PassPlan,
    PassWish,
    StreamState,
)

USUAL = PassWish()


def plan_pass(
    description: SourceDescription,
    states: Mapping[str, StreamState],
    wish: PassWish = USUAL,
) -> PassPlan:
    """The checkpoints of a pass and its first items; UsageError for a stream that is unknown."""
    resources = _wanted(description, wish.streams)
    names = {each.name for each in resources}
    without = tuple(each.name for each in description.resources if each.name not in names)
    parents = _parents_of_new(resources, states)
    pages: dict[str, PageItem] = {}
    for each in resources:
        state = states.get(each.name, StreamState())
        begin = _since(description, each, state, wish)
        if each.name in parents and wish.since is None:
            begin = None
        above = pages.get(parent_of(each))
        full = begin is None and (above is None or above.full)
        pages[each.name] = PageItem(each.name, full=full, since=begin, without=without)
    return PassPlan(
        [_checkpoint(each, pages[each.name]) for each in resources],
        [_first_item(each, pages[each.name]) for each in resources if not parent_of(each)],
    )


def _parents_of_new(resources: Sequence[Resource], states: Mapping[str, StreamState]) -> set[str]:
    """The streams that must be listed in full, since one below them never was."""
    found: set[str] = set()
    for each in reversed(resources):  # parents come first
        new = states.get(each.name, StreamState()).full_at is None
        if (parent := parent_of(each)) and (new or each.name in found):
            found.add(parent)
    return found


def _wanted(description: SourceDescription, names: Sequence[str]) -> list[Resource]:
    """The streams to list, each after its parent, with all parents that they need."""
    by_name = {each.name: each for each in description.resources}
    for name in names:
        if name not in by_name:
            raise UsageError(f"the source has no stream {name!r}; it has {', '.join(by_name)}")
    chosen = names or [each.name for each in description.resources if each.selected]
    if not chosen:
        raise UsageError("no stream is selected; name the ones to list")
    found: dict[str, Resource] = {}

    def add(name: str) -> None:
        if parent := parent_of(by_name[name]):
            add(parent)
        found.setdefault(name, by_name[name])

    for name in chosen:
        add(name)
    return list(found.values())


def _since(
    description: SourceDescription, resource: Resource, state: StreamState, wish: PassWish
) -> str | None:
    """The stamp from which a stream is listed; None: it is listed in full."""
    changed = resource.endpoint.incremental
    if changed is None or parent_of(resource):
        return None
    if wish.since is not None and not wish.full:
        return wish.since
    if wish.full or state.watermark is None or _is_full_due(description, state, wish):
        return None
    if not (changed.start_param or changed.start_expression or _names_start(resource)):
        return None
    return since(state.watermark, changed.lag)


def _is_full_due(description: SourceDescription, state: StreamState, wish: PassWish) -> bool:
    if not description.full_every:
        return False
    age_us = parse_span(description.full_every) * 1_000_000
    return state.full_at is None or wish.now - state.full_at >= age_us


def _names_start(resource: Resource) -> bool:
    texts = msgspec.json.encode(resource.endpoint.params)
    return b"{incremental.start_value}" in texts


def _checkpoint(resource: Resource, page: PageItem) -> NewCheckpoint:
    closing = msgspec.structs.replace(page, kind="closing")
    mode = PassMode.FULL if page.full else PassMode.INCREMENTAL
    return NewCheckpoint(
        resource.name, resource.name, _tree(closing), parent_of(resource), mode, page.since
    )


def _first_item(resource: Resource, page: PageItem) -> NewItem:
    start = page.since if page.since is not None else _initial(resource.endpoint.incremental)
    first = msgspec.structs.replace(page, kind="first", since=start)
    text = msgspec.json.encode(first).decode()
    return NewItem(first.key("first"), text, checkpoint=resource.name)


def _initial(changed: Incremental | None) -> str | None:
    value = changed.initial_value if changed else None
    return None if value is None else str(value)


def _tree(page: PageItem) -> dict[str, Any]:
    tree: dict[str, Any] = msgspec.to_builtins(page)
    return tree
