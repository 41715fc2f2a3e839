"""Pages by a key of the rows: behind one key, up to another. Dense ranges divide themselves."""

from bisect import bisect_left
from typing import Any, NamedTuple

from headgate.core.mirror import Proof
from headgate.core.ordering import MICROSECONDS, Compare, position, time_text
from headgate.core.ranges import REACH, KeyRange, rest_above
from headgate.handlers.extract.pages import At, BadPage
from headgate.handlers.extract.paginators import KeysetPaginator
from headgate.handlers.extract.paging.shape import ListedPage, PageRequest, PageStep

FARTHEST = REACH**8


class KeysetOptions(NamedTuple):
    is_parallel: bool = True
    is_unique: bool = True
    """No two rows have the same key."""


class KeysetPaging:
    """`at` has `after` and `until`; a page of such a range brings the rest of it.

    A range without an upper bound reaches farther at each step, until a page of it is empty.
    Ranges of times are cut at whole seconds. Where keys are not unique, the rest begins before the
    last key of a page, since more rows may have that key.
    """

    is_chain = False
    proof = Proof.COVERED

    def __init__(self, words: KeysetPaginator, size: int, options: KeysetOptions) -> None:
        self._words = words
        self._size = size
        self._is_unique = options.is_unique
        splits = words.compare is not Compare.TEXT and bool(words.until_param)
        self._splits = splits and options.is_parallel
        self._is_time = words.compare is Compare.TIME

    def first(self) -> At:
        return {"reach": 1}

    def label(self, at: At) -> str:
        until = f",{at['until']}" if "until" in at else ""
        return f"after={at['after']}{until}" if "after" in at else "first"

    def request(self, at: At) -> PageRequest:
        words = self._words
        params: dict[str, Any] = {}
        if "after" in at:
            params[words.after_param] = at["after"]
        if "until" in at:
            params[words.until_param] = at["until"]
        if words.limit_param:
            params[words.limit_param] = self._size
        return PageRequest(params)

    def step(self, at: At, page: ListedPage) -> PageStep:
        low, high = at.get("after"), at.get("until")
        keys = [self._position(key) for key in page.keys]
        if keys != sorted(keys):
            raise BadPage(
                f"the rows are not sorted by {self._words.key!r}; pages by key need that order:"
                " add the parameters for it to order.params"
            )
        if self._is_last(page):
            return PageStep(ends=True, low=low, high=high)
        edge = self._edge(keys)
        if low is not None and keys[edge] <= self._position(low):
            raise BadPage(
                f"the page behind {low!r} has keys up to it; check `after_param`"
                f" ({self._words.after_param})"
            )
        last = page.keys[edge]
        rest = self._rest(at, last, keys[edge] - keys[0]) if self._splits else []
        return PageStep(rest or [self._next(at, last)], low=low, high=last)

    def _is_last(self, page: ListedPage) -> bool:
        if page.beyond or not page.rows:
            return True
        if page.more is not None:
            return not page.more
        return page.rows < self._size

    def _next(self, at: At, last: Any) -> At:
        return {**{name: at[name] for name in ("until",) if name in at}, "after": last}

    def _edge(self, keys: list[Any]) -> int:
        """The row up to whose key a page has every row."""
        if self._is_unique:
            return -1
        below = bisect_left(keys, keys[-1]) - 1
        if below < 0:
            raise BadPage(
                f"all {len(keys):,} rows of a page have the same {self._words.key!r}, so the page"
                " behind them cannot be asked for; use larger pages, or a key that is unique"
            )
        return below

    def _rest(self, at: At, last: Any, width: float) -> list[At]:
        """The ranges behind the last key; empty: they are not worth dividing."""
        begin, until = self._position(last), None
        if "until" in at:
            until = self._position(at["until"])
        if self._is_time:
            width /= MICROSECONDS
            begin, until = -(-begin // MICROSECONDS), until and until // MICROSECONDS
        if width <= 0:
            return []
        reach = min(at.get("reach", 1) * REACH, FARTHEST)
        parts = rest_above(begin, until, width, reach)
        found = [self._range(each, reach, like=last) for each in parts]
        return [{**found[0], "after": last}, *found[1:]] if found else []

    def _range(self, part: KeyRange, reach: int, like: Any) -> At:
        at = {"after": self._value(part.low, like)}
        if part.high is None:
            return {**at, "reach": reach}
        return {**at, "until": self._value(part.high, like)}

    def _position(self, key: Any) -> Any:
        try:
            return position(key, self._words.compare)
        except ValueError as error:
            raise BadPage(
                f"the key {self._words.key!r} cannot be compared as a {self._words.compare}:"
                f" {error}; set paginator.compare"
            ) from None

    def _value(self, place: float | None, like: Any) -> Any:
        if not self._is_time or place is None:
            return place
        return time_text(place * MICROSECONDS, unix=not isinstance(like, str))
