"""Windows of time or number over another kind of paging, so that chains run side by side."""

from typing import Any

from headgate.core.mirror import Proof
from headgate.core.ordering import MICROSECONDS, Compare, position, time_text
from headgate.core.ranges import REACH, KeyRange, parts_of, rest_above, rest_below, split
from headgate.core.time_text import parse_span
from headgate.handlers.extract.description import RangeWords
from headgate.handlers.extract.pages import At, BadPage
from headgate.handlers.extract.paging.keyset import FARTHEST
from headgate.handlers.extract.paging.shape import (
    MOST_ITEMS,
    ListedPage,
    PageRequest,
    PageStep,
    Paging,
)

PAGES_EACH = 4
"""Pages that a window should have at least to be worth an item of its own."""


class WindowPaging:
    """`at` has `low` and `high` (positions), `reach`, and `in`, the place in the inner paging.

    The first page of a window that has more divides the rest of it. Neighbouring windows share
    their bound, whether the source's filter includes it or not.
    """

    is_chain = True
    proof = Proof.CHAINED

    def __init__(
        self, window: RangeWords, inner: Paging, cap: int | None, *, is_parallel: bool
    ) -> None:
        self._window = window
        self._inner = inner
        self._cap = cap
        self._is_parallel = is_parallel
        self._unit = MICROSECONDS if window.compare is Compare.TIME else 1
        self._first = self._bound(window.first)
        self._last = self._bound(window.last)

    def first(self) -> At:
        return {"low": self._first, "high": self._last, "in": self._inner.first(), "reach": 1}

    def label(self, at: At) -> str:
        low, high = (self._sent(at[name]) for name in ("low", "high"))
        return f"{'' if low is None else low}..{'' if high is None else high}/" + self._inner.label(
            at["in"]
        )

    def request(self, at: At) -> PageRequest:
        inner = self._inner.request(at["in"])
        if inner.url:
            return inner
        window = self._window
        bounds = {window.start_param: self._sent(at["low"]), window.end_param: self._upper(at)}
        given = {name: value for name, value in bounds.items() if value is not None}
        return inner._replace(params={**given, **inner.params})

    def step(self, at: At, page: ListedPage) -> PageStep:
        if page.first and (planned := self._windows()):
            # The windows list again what this page had: the hash of a row absorbs that.
            return PageStep(planned)
        begins = at["in"] == self._inner.first()
        found = self._inner.step(at["in"], _as_first(page, first=begins))
        if found.ends or not found.follow:
            return PageStep(ends=found.ends, numbered=found.numbered)
        seen = (0 if begins else at.get("seen", 0)) + page.rows
        if self._cap is not None and (seen >= self._cap or (page.total or 0) > self._cap):
            return PageStep(self._divided(at, page), numbered=found.numbered)
        if begins and self._is_parallel and (rest := self._rest(at, page)):
            return PageStep(rest, numbered=found.numbered)
        follow = [{**at, "in": each, "seen": seen} for each in found.follow]
        return PageStep(follow, numbered=found.numbered)

    def _divided(self, at: At, page: ListedPage) -> list[At]:
        """The parts of a window that has more rows than the source gives of one listing."""
        low, high = at["low"], at["high"]
        if low is not None and high is not None and high - low > self._unit:
            return [self._at(each, 1) for each in split(low, high, 2)]
        if rest := self._rest(at, page):
            return rest
        raise BadPage(
            f"the source gives at most {self._cap:,} rows of a listing (`cap`), and the window"
            f" {self.label(at)} has more and cannot be divided; set range.first and range.last"
        )

    def _windows(self) -> list[At]:
        """The windows of a listing whose bounds and step are described."""
        if self._first is None or self._window.step is None or self._last is None:
            return []
        wanted = -(-(self._last - self._first) // self._step())
        parts = split(self._first, self._last, int(min(wanted, MOST_ITEMS)))
        return [self._at(each, 1) for each in parts] if len(parts) > 1 else []

    def _step(self) -> float:
        step = self._window.step
        if isinstance(step, str):
            return parse_span(step) * self._unit
        return (step or 1) * self._unit

    def _rest(self, at: At, page: ListedPage) -> list[At]:
        """The rest of a window behind its first page; empty: it is not worth dividing."""
        keys = [self._position(key) for key in page.keys]
        if len(keys) < 2 or keys[0] == keys[-1]:
            return []
        width = abs(keys[-1] - keys[0])
        reach = min(at.get("reach", 1) * REACH, FARTHEST)
        if keys == sorted(keys):
            edge, low, high = keys[-1], None, at["high"]
            rest = rest_above(edge, high, width, reach)
        elif keys == sorted(keys, reverse=True):
            # Rows with the same stamp as the last one may be on the next page.
            edge, low, high = min(keys[-1] + self._unit, keys[0]), at["low"], None
            rest = rest_below(edge, low, width, reach)
        else:
            return []
        bound = low if low is not None else high
        if bound is not None and parts_of(abs(bound - edge), width) < PAGES_EACH:
            return []
        return [self._at(each, reach) for each in rest]

    def _at(self, part: KeyRange, reach: int) -> At:
        whole = {"low": _whole(part.low), "high": _whole(part.high)}
        return {**whole, "in": self._inner.first(), "reach": reach}

    def _upper(self, at: At) -> Any:
        """The upper bound, rounded up so that no row falls between two windows."""
        high = at["high"]
        if high is None:
            return None
        return self._sent(-(-high // self._unit) * self._unit + self._unit)

    def _sent(self, place: float | None) -> Any:
        if place is None or self._window.compare is not Compare.TIME:
            return place
        return time_text(place // MICROSECONDS * MICROSECONDS, unix=self._window.unix)

    def _bound(self, value: Any) -> Any:
        return None if value is None else self._position(value)

    def _position(self, key: Any) -> Any:
        try:
            return position(key, self._window.compare)
        except ValueError as error:
            raise BadPage(f"range.by: {self._window.by!r} cannot be compared: {error}") from None


def _as_first(page: ListedPage, *, first: bool) -> ListedPage:
    return ListedPage(
        page.rows,
        page.url,
        page.headers,
        page.value,
        first,
        page.beyond,
        page.total,
        page.more,
        page.keys,
    )


def _whole(place: float | None) -> float | None:
    return place if place is None or isinstance(place, int) else round(place)
