"""Pages by the number of rows before them, and pages by their own number."""

from typing import NamedTuple

from headgate.core.mirror import Proof
from headgate.handlers.extract.pages import At, BadPage
from headgate.handlers.extract.paginators import (
    OffsetPaginator,
    PageNumberPaginator,
    PaginatorWord,
)
from headgate.handlers.extract.paging.shape import (
    AHEAD,
    MOST_ITEMS,
    ListedPage,
    PageRequest,
    PageStep,
)

FARTHEST = 10**15
"""Above any offset."""


class OffsetOptions(NamedTuple):
    overlap: int = 0
    """Rows by which neighbouring pages overlap."""
    ahead: int = AHEAD
    """Pages that are asked for ahead where the total is unknown."""
    divides: bool = False
    """The listing is a window that can be divided if it reaches the cap."""


class NumberedPaging:
    """Pages can be fetched in any order; the first one says how many there are, if the source does.

    `at` has `offset`, `limit`, and what the page brings: with `plan` it brings further pages up to
    that total, with `ahead` the page that many pages ahead, with `last` the next one if it is full,
    with `check` nothing but the answer whether a short first page was the whole listing.
    """

    proof = Proof.COUNTED
    is_chain = False
    partial = True
    """A page may begin anywhere, so the rest of a short one can be asked for."""

    def __init__(self, words: PaginatorWord, size: int, options: OffsetOptions) -> None:
        self._words = words
        self._size = size
        self._options = options
        self._start = 0

    def first(self) -> At:
        return {"offset": self._start, "limit": self._size}

    def repair(self, offset: int) -> At:
        """A page that the closing asks for again."""
        return {"offset": max(offset, self._start), "limit": self._size}

    @property
    def stride(self) -> int:
        """Rows from the beginning of a page to that of the next one."""
        return max(self._size - self._options.overlap, 1)

    def step(self, at: At, page: ListedPage) -> PageStep:
        if page.first:
            at = self._in_size(at, page)
        ends = self._ends(at, page)
        self._check_cap(at, page, ends=ends)
        follow = [] if page.beyond else self._following(at, page, ends=ends)
        return PageStep(follow, ends, numbered=True, begin=at["offset"])

    def _in_size(self, at: At, page: ListedPage) -> At:
        """The page with the size that the server gives, if that is smaller than what was asked."""
        begin = at["offset"] + page.rows
        reduced = page.total is not None and 0 < page.rows < at["limit"] and begin < page.total
        if not at["limit"] or reduced:
            return {**at, "limit": page.rows}
        return at

    def _ends(self, at: At, page: ListedPage) -> bool:
        if page.beyond:
            return True
        if page.more is not None and self._words.ends in {"", "flag"}:
            return not page.more
        short = page.rows < at["limit"] or not page.rows
        reached = page.total is None or at["offset"] + page.rows >= page.total
        if self._words.ends == "empty" or self._is_doubtful(at, page):
            return not page.rows and reached
        return short and reached

    def _is_doubtful(self, at: At, page: ListedPage) -> bool:
        """A short first page may be all, or the server may give fewer rows than were asked."""
        unsaid = page.total is None and page.more is None and not self._words.ends
        return page.first and unsaid and 0 < page.rows < at["limit"]

    def _check_cap(self, at: At, page: ListedPage, *, ends: bool) -> None:
        cap = self._words.cap
        if cap is None or self._options.divides or ends:
            return
        if (page.total or 0) > cap or at["offset"] + page.rows >= cap:
            raise BadPage(
                f"the source gives at most {cap:,} rows of a listing (`cap`), and it has more;"
                " describe a `range`, so that it is listed in windows"
            )

    def _following(self, at: At, page: ListedPage, *, ends: bool) -> list[At]:
        if page.first:
            return self._after_first(at, page, ends=ends)
        if total := at.get("plan"):
            return self._planned(at, total) if page.rows else []
        if ends or at.get("check") is False:
            return []
        if self.partial and 0 < page.rows < at["limit"]:
            return self._rest(at, page)
        if page.rows and (ahead := at.get("ahead")):
            return [self._ahead(at, ahead)] if self._in_reach(at, ahead) else []
        if page.rows and at.get("check"):
            return self._spread({**at, "check": False}, 1, AHEAD)
        return self._spread(at, 1, 1) if page.rows and at.get("last") else []

    def _after_first(self, at: At, page: ListedPage, *, ends: bool) -> list[At]:
        if ends or not page.rows:
            return []
        if self._is_doubtful(at, page):
            return [{"offset": at["offset"] + page.rows, "limit": page.rows, "check": True}]
        if page.total is not None:
            return self._planned(at, page.total)
        return self._spread(at, 1, self._options.ahead)

    def _planned(self, at: At, total: int) -> list[At]:
        stride = self._stride(at)
        begin = at["offset"] + stride
        offsets = range(begin, max(self._top(total), begin + 1), stride)
        pages: list[At] = [
            {"offset": each, "limit": at["limit"]} for each in offsets[: MOST_ITEMS + 1]
        ]
        # The last page brings what is behind it: the next plan, or rows beyond a total that lies.
        pages[-1] = {**pages[-1], **({"plan": total} if len(offsets) > len(pages) else {"last": 1})}
        return pages

    def _top(self, total: int) -> int:
        """The offset below which pages are asked for."""
        return total if self._words.cap is None else min(total, self._words.cap)

    def _spread(self, at: At, first: int, count: int) -> list[At]:
        """Pages behind this one, each of which brings the one `count` pages ahead of it."""
        stride = self._stride(at)
        pages = (
            {"offset": at["offset"] + stride * each, "limit": at["limit"], "ahead": count}
            for each in range(first, first + count)
        )
        return [page for page in pages if self._in_reach(page, 0)]

    def _ahead(self, at: At, ahead: int) -> At:
        return {**at, "offset": at["offset"] + self._stride(at) * ahead}

    def _in_reach(self, at: At, ahead: int) -> bool:
        offset: int = at["offset"] + self._stride(at) * ahead
        return offset < self._top(FARTHEST)

    def _stride(self, at: At) -> int:
        limit: int = at["limit"]
        return max(limit - self._options.overlap, 1)

    def _rest(self, at: At, page: ListedPage) -> list[At]:
        """The rest of a page that the server cut short, and the page that this one brings."""
        overlap = min(self._options.overlap, page.rows - 1)
        begin = at["offset"] + page.rows - overlap
        rest = {"offset": begin, "limit": at["limit"] - page.rows + overlap}
        if ahead := at.get("ahead"):
            return [rest, self._ahead(at, ahead)]
        return [{**rest, "last": 1} if at.get("last") else rest]


class OffsetPaging(NumberedPaging):
    """Pages by the number of rows before them."""

    def __init__(self, words: OffsetPaginator, size: int, options: OffsetOptions) -> None:
        super().__init__(words, size, options)
        self._start = words.offset
        self._offset_words = words

    def label(self, at: At) -> str:
        return f"offset={at['offset']}"

    def request(self, at: At) -> PageRequest:
        words = self._offset_words
        places = (
            (words.offset_param, words.offset_body_path, at["offset"]),
            (words.limit_param, words.limit_body_path, at["limit"]),
        )
        params = {param: value for param, path, value in places if param and not path}
        return PageRequest(params, body={path: value for _, path, value in places if path})

    def _top(self, total: int) -> int:
        most = self._offset_words.maximum_offset
        return super()._top(total if most is None else min(total, most))


class PageNumberPaging(NumberedPaging):
    """Pages by number; a page begins where the pages before it end."""

    partial = False

    def __init__(self, words: PageNumberPaginator, size: int, options: OffsetOptions) -> None:
        super().__init__(words, size, options)
        self._page_words = words
        self._base = words.base_page if words.page is None else words.page

    def label(self, at: At) -> str:
        return f"page={self._number(at)}"

    def request(self, at: At) -> PageRequest:
        words, number = self._page_words, self._number(at)
        params = {words.limit_param: at["limit"]} if words.limit_param and at["limit"] else {}
        if words.page_body_path:
            return PageRequest(params, body={words.page_body_path: number})
        return PageRequest({**params, words.page_param: number})

    def _number(self, at: At) -> int:
        return int(self._base + at["offset"] // max(at["limit"], 1))

    def _top(self, total: int) -> int:
        most = self._page_words.maximum_page
        if most is None or not self._size:
            return super()._top(total)
        return super()._top(min(total, (most - self._base + 1) * self._size))
