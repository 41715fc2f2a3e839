"""Values that many responses share: moments, pages, counters, waits."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime
from typing import Generic, TypeVar

import msgspec

Moment = datetime | None
Value = TypeVar("Value")


class Wired(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A value in a response: camelCase there, snake_case here; unknown fields are ignored."""


class Page(msgspec.Struct, Generic[Value], frozen=True):
    """Some values and the cursor of the next page; None: there are no more now."""

    items: list[Value]
    next: str | None = None


class Listed(msgspec.Struct, Generic[Value], frozen=True):
    items: list[Value]


class Counts(Wired, frozen=True, kw_only=True):
    """Numbers of a job's items by status; they add up to `total`."""

    total: int = 0
    pending: int = 0
    processing: int = 0
    done: int = 0
    not_found: int = 0
    skipped: int = 0
    review: int = 0
    error: int = 0
    cancelled: int = 0

    @property
    def open(self) -> int:
        return self.pending + self.processing


class Wait(Wired, frozen=True, kw_only=True):
    kind: str
    why: str
    until: Moment = None
    """The expected end, if it is known."""
    gate: str = ""
    next: str = ""
    """What happens at that time, such as `asked again`; empty: the wait ends."""
    evidence: str = ""
    """The observation that led to it, if there is one."""


Params = dict[str, str]


def params(**given: str | float | None) -> Params:
    """The parameters of a query; None leaves one out."""
    return {name: _text(value) for name, value in given.items() if value is not None}


def between(start: datetime | None, end: datetime | None) -> Params:
    bounds = {"from": start, "to": end}
    return {name: at.isoformat() for name, at in bounds.items() if at is not None}


def _text(value: str | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


async def walk(
    page_after: Callable[[str | None], Awaitable[Page[Value]]], after: str | None = None
) -> AsyncIterator[Value]:
    """Yield every value after a cursor, page after page; a short page may not be the last."""
    while True:
        page = await page_after(after)
        for value in page.items:
            yield value
        if page.next is None:
            return
        after = page.next
