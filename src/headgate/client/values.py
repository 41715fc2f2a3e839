"""Parameters of queries, and walks over pages."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime
from typing import TypeVar

from headgate.schema.values import Page

Value = TypeVar("Value")


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
