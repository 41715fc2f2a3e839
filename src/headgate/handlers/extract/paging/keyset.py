"""Pages by a key of the rows: behind one key, up to another. Dense ranges divide themselves."""

from typing import Any

from headgate.core.mirror import Proof
from headgate.core.ordering import MICROSECONDS, Compare, position, time_text
from headgate.core.ranges import REACH, KeyRange, rest_above
from headgate.handlers.extract.pages import At, BadPage
from headgate.handlers.extract.paginators import KeysetPaginator
from headgate.handlers.extract.paging.shape import ListedPage, PageRequest, PageStep

FARTHEST = REACH**8


class KeysetPaging:
    """`at` has `after` and `until`; a page of such a range brings the rest of it.

    A range without an upper bound reaches farther at each step, until a page of it is empty.
    """

    is_chain = False
    proof = Proof.COVERED

    def __init__(self, words: KeysetPaginator, size: int, *, is_parallel: bool) -> None:
        self._words = words
        self._size = size
        splits = words.compare is not Compare.TEXT and bool(words.until_param)
        self._splits = splits and is_parallel

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
        if low is not None and keys[-1] <= self._position(low):
            raise BadPage(
                f"the page behind {low!r} has only keys up to it; check `after_param`"
                f" ({self._words.after_param})"
            )
        rest = self._rest(at, keys) if self._splits else None
        follow = rest if rest is not None else [self._next(at, page.keys[-1])]
        return PageStep(follow, low=low, high=page.keys[-1])

    def _is_last(self, page: ListedPage) -> bool:
        if page.beyond or not page.rows:
            return True
        if page.more is not None:
            return not page.more
        return page.rows < self._size

    def _next(self, at: At, last: Any) -> At:
        return {**{name: at[name] for name in ("until",) if name in at}, "after": last}

    def _rest(self, at: At, keys: list[Any]) -> list[At] | None:
        last, width = keys[-1], keys[-1] - keys[0]
        until = self._position(at["until"]) if "until" in at else None
        if width <= 0:
            return None
        reach = min(at.get("reach", 1) * REACH, FARTHEST)
        return [self._range(each, reach) for each in rest_above(last, until, width, reach)]

    def _range(self, part: KeyRange, reach: int) -> At:
        at = {"after": self._value(part.low)}
        if part.high is None:
            return {**at, "reach": reach}
        return {**at, "until": self._value(part.high)}

    def _position(self, key: Any) -> Any:
        try:
            return position(key, self._words.compare)
        except ValueError as error:
            raise BadPage(
                f"the key {self._words.key!r} cannot be compared as a {self._words.compare}:"
                f" {error}; set paginator.compare"
            ) from None

    def _value(self, place: float | None) -> Any:
        if self._words.compare is Compare.TIME and place is not None:
            return time_text(place // MICROSECONDS * MICROSECONDS, unix=False)
        return place
