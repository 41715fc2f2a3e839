"""Lists pages of a stream: the work of one item."""

import time
from collections.abc import Callable
from typing import Any

from headgate.core.fault import AttemptOver
from headgate.core.mirror import FollowUp, MirrorRow
from headgate.core.ordering import Compare, position
from headgate.core.outcome import Done
from headgate.core.watermark import newest
from headgate.handlers.extract.fetching import (
    FetchedPage,
    check_status,
    fetch_page,
    stated_total,
)
from headgate.handlers.extract.key_hashes import hashes_of
from headgate.handlers.extract.pages import At, BadPage, Evidence, PageItem, as_result
from headgate.handlers.extract.paging.keyset import KeysetPaging
from headgate.handlers.extract.reading import Document
from headgate.handlers.extract.stream import StreamSource
from headgate.ports.handler import Context

MOST_PAGES = 20
MOST_SECONDS = 5.0
MOST_BYTES = 8 * 1024 * 1024
"""An item of a chain fetches pages until one of these is reached."""
Seconds = Callable[[], float]


class ItemListing:
    """The pages that one item has fetched."""

    def __init__(self, stream: StreamSource, page: PageItem) -> None:
        self._stream = stream
        self._page = page
        self.rows: list[MirrorRow] = []
        self.children: list[FollowUp] = []
        self.pages = 0
        self.bytes = 0
        self._listed = 0
        self._keys: list[Any] = []
        self._ids: list[str] = []
        self._stamps: list[str | None] = []
        self._first: FetchedPage | None = None
        self._last: FetchedPage | None = None

    def add(self, fetched: FetchedPage) -> None:
        stream, page = self._stream, self._page
        always = stream.resource.detail is not None and stream.resource.detail.when == "always"
        for row in fetched.rows:
            if always:
                self.children.append(stream.detail_of(row, page))
            else:
                self.rows.append(stream.mirror_row(row, page))
            if page.full and stream.children:
                self.children += stream.children_of(row, page)
        self._stamps += [row.stamp for row in fetched.rows]
        self._keys += fetched.keys
        self._ids += [row.id for row in fetched.rows]
        self._first = self._first or fetched
        self._last = fetched
        self.pages += 1
        self.bytes += fetched.size
        self._listed += fetched.listed

    def done(self, follow: list[At], total: int | None) -> Done:
        """The outcome, with the pages that follow."""
        page, paging = self._page, self._stream.paging
        items = [page.follow("page", paging.label(at), at=at) for at in follow]
        evidence = self._evidence(len(items), total)
        return Done(as_result(evidence), self.rows, [*items, *self.children], total=evidence.total)

    def _evidence(self, opens: int, total: int | None) -> Evidence:
        first, last = self._first, self._last
        if first is None or last is None:
            raise BadPage("no page was fetched")
        low, high = self._bounds(first, last)
        # A listing of one page is a snapshot: no row can move between its pages.
        alone = self._page.kind == "first" and self.pages == 1 and last.step.ends
        numbered = last.step.numbered and not alone
        return Evidence(
            rows=self._listed,
            pages=self.pages,
            begins=self._page.kind == "first",
            ends=last.step.ends,
            opens=opens,
            begin=first.step.begin,
            low=low,
            high=high,
            unsorted=not self._is_sorted(),
            numbered=numbered,
            total=total if total is not None else first.total,
            stamp=first.date if self._stream.begins_by_date else newest(self._stamps),
            ids=hashes_of(self._recognised()) if last.step.numbered and self._needs_ids() else "",
            round=self._page.round,
        )

    def _bounds(self, first: FetchedPage, last: FetchedPage) -> tuple[Any, Any]:
        if isinstance(self._stream.paging, KeysetPaging) or not self._keys:
            return first.step.low, last.step.high
        if self._stream.compare is Compare.EQUAL or not self._stream.is_covered:
            return None, None
        return self._keys[0], self._keys[-1]

    def _needs_ids(self) -> bool:
        return not self._stream.is_covered or self._stream.compare is Compare.EQUAL

    def _recognised(self) -> list[str]:
        """The keys of an order that only the source can compare, else the ids."""
        if self._stream.is_covered and self._keys:
            return [str(key) for key in self._keys]
        return self._ids

    def _is_sorted(self) -> bool:
        compare = self._stream.compare
        if compare is Compare.EQUAL or not self._stream.is_covered:
            return True
        try:
            places = [position(key, compare) for key in self._keys]
        except ValueError:
            return False
        order = self._stream.order
        backwards = order is not None and order.direction == "desc"
        return places == sorted(places, reverse=backwards)


async def list_pages(
    stream: StreamSource, page: PageItem, ctx: Context, clock: Seconds = time.monotonic
) -> Done:
    """Fetch the page of an item, and the next ones if they can only be fetched in turn."""
    at = page.at or stream.paging.first()
    total = await count_rows(stream, page, ctx) if page.kind == "first" and page.full else None
    listing = ItemListing(stream, page)
    end = clock() + MOST_SECONDS
    fetched = await fetch_page(stream, page, at, ctx, first=page.kind == "first")
    listing.add(fetched)
    follow = list(fetched.step.follow)
    while (
        stream.paging.is_chain
        and len(follow) == 1
        and listing.pages < MOST_PAGES
        and listing.bytes < MOST_BYTES
        and clock() < end
    ):
        try:
            fetched = await fetch_page(stream, page, follow[0], ctx, first=False)
        except AttemptOver:
            break  # what came before is kept; the page fails as an item of its own
        listing.add(fetched)
        follow = list(fetched.step.follow)
    return listing.done(follow, total)


async def count_rows(stream: StreamSource, page: PageItem, ctx: Context) -> int | None:
    """Ask the source how many rows it has, where it has a URL for that."""
    if stream.total_url is None:
        return None
    prepared = stream.request.prepare(page, stream.paging.request(stream.paging.first()))
    method = "HEAD" if stream.words.total_header else "GET"
    headers = prepared.options.get("headers")
    url = stream.total_url.url({**stream.request.fixed, **page.fills})
    reply = await ctx.http.request(method, url, headers=headers, fresh=True, light=True)
    check_status(reply, f"{url.partition('?')[0]} answered {reply.status_code}", is_child=False)
    return stated_total(
        reply, stream.words.total_header, stream.total_path, Document(reply, [], [])
    )
