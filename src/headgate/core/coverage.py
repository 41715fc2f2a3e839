"""Whether the pages of a pass cover a listing without a gap.

A page of a sorted listing is a slice: it has every row that existed between its first and its last
key when it was fetched. If the slices cover the whole order, every row that existed throughout the
pass is in one of them, in whatever order they were fetched and however other rows moved.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

import msgspec

from headgate.core.ordering import Position


class Span(msgspec.Struct, frozen=True, gc=False):
    """Everything between two keys, as one page had it."""

    low: Position | None
    """None: from the beginning of the order."""
    high: Position | None
    """None: to its end."""
    begin: int = 0
    """The number of rows before the page, as the source counted."""
    end: int = 0
    """The number of rows up to its last one."""


class Gap(msgspec.Struct, frozen=True):
    """A stretch of the order that no page covers."""

    low: Position | None
    high: Position | None
    begin: int = 0
    """About how many rows are before it."""
    end: int = 0
    """About how many rows are before the first covered one behind it."""


class LinkedPage(msgspec.Struct, frozen=True, gc=False):
    """A page of a listing whose keys can only be recognised."""

    last: str
    """Its last key; empty: it has no rows."""
    contains: frozenset[str]
    """The last keys of other pages that are among its keys."""
    begins: bool
    ends: bool
    begin: int = 0
    """The number of rows before it."""
    end: int = 0
    """The number of rows up to its last one."""


def gaps_between(spans: Iterable[Span]) -> list[Gap]:
    """The gaps of a sorted listing; empty if the spans cover the whole order."""
    found: list[Gap] = []
    reached: Span | None = None
    for span in sorted(spans, key=_by_low):
        if _is_apart(reached, span):
            found.append(_gap(reached, span))
        if reached is None or _is_beyond(span, reached):
            reached = span
    if reached is None or reached.high is not None:
        found.append(_gap(reached, None))
    return found


def gaps_in_links(pages: Sequence[LinkedPage]) -> list[Gap]:
    """The gaps of a listing whose keys can only be recognised.

    A page continues another if it has the last row of it.
    """
    behind: dict[str, list[LinkedPage]] = defaultdict(list)
    for page in pages:
        for key in page.contains:
            behind[key].append(page)
    found: list[Gap] = []
    known: set[int] = set()
    waiting = deque(page for page in pages if page.begins)
    apart = deque(sorted((page for page in pages if page.last), key=lambda page: page.begin))
    reached = 0
    while True:
        while waiting:
            page = waiting.popleft()
            if page.ends:
                return found
            if id(page) not in known:
                known.add(id(page))
                reached = max(reached, page.end)
                waiting.extend(behind[page.last])
        while apart and (id(apart[0]) in known or apart[0].end <= reached):
            apart.popleft()
        found.append(Gap(None, None, reached, apart[0].begin if apart else reached))
        if not apart:
            return found
        waiting.append(apart.popleft())


def repair_offsets(gap: Gap, size: int, step: int, wide: int) -> list[int]:
    """The offsets of pages that cover a gap and `wide` pages on either side of it."""
    first = max(gap.begin - wide * size, 0)
    last = max(gap.end, gap.begin) + (wide - 1) * size
    return list(range(first, last + 1, step))


def _by_low(span: Span) -> tuple[bool, Position]:
    # None is only compared with None, for which any constant does.
    return (False, 0) if span.low is None else (True, span.low)


def _is_apart(reached: Span | None, span: Span) -> bool:
    if span.low is None:
        return False
    if reached is None:
        return True
    return reached.high is not None and span.low > reached.high  # type: ignore[operator]


def _is_beyond(span: Span, reached: Span) -> bool:
    if reached.high is None:
        return False
    return span.high is None or span.high > reached.high  # type: ignore[operator]


def _gap(before: Span | None, behind: Span | None) -> Gap:
    begin = before.end if before else 0
    return Gap(
        before.high if before else None,
        behind.low if behind else None,
        begin,
        behind.begin if behind else begin,
    )
