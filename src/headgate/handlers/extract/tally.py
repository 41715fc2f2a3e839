"""What the pages of a stream show together, from the evidence that each of them left."""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from headgate.core.watermark import newest
from headgate.handlers.extract.pages import Evidence

Results = Callable[[], AsyncIterator[Mapping[str, Any]]]
"""Reads the results of a stream's items, once for each call: they may be too many for memory."""


class PassTally(NamedTuple):
    """What the pages of a pass show together."""

    items: int = 0
    begun: int = 0
    opened: int = 0
    rows: int = 0
    numbered: bool = False
    is_sorted: bool = True
    totals: frozenset[int] = frozenset()
    watermark: str | None = None
    rounds: int = 0
    repairs: int = 0
    ended: int = 0
    stated: int | None = 0
    """The sum of what the listings say they have; None: one of them does not say it."""

    def plus(self, page: Evidence) -> "PassTally":
        total = frozenset() if page.total is None else frozenset({page.total})
        return PassTally(
            self.items + 1,
            self.begun + page.begins,
            self.opened + (0 if page.round else page.opens),
            self.rows + page.rows,
            self.numbered or page.numbered,
            self.is_sorted and not page.unsorted,
            self.totals | total,
            newest((self.watermark, page.stamp)),
            max(self.rounds, page.round),
            self.repairs + (page.round > 0),
            self.ended + page.ends,
            _sum(self.stated, page.total) if page.begins else self.stated,
        )

    @property
    def is_whole(self) -> bool:
        """Every page that was named has been fetched; repairs are named by the closing."""
        return self.items - self.repairs == self.begun + self.opened


async def tallied(results: Results) -> tuple[PassTally, str | None]:
    """The tally of a stream's pages, and the newest stamp of its rows."""
    tally, watermark = PassTally(), None
    async for result in results():
        page = msgspec.convert(result, Evidence)
        if page.detail:
            watermark = newest((watermark, page.stamp))
        else:
            tally = tally.plus(page)
    return tally, newest((watermark, tally.watermark))


def _sum(stated: int | None, total: int | None) -> int | None:
    return None if stated is None or total is None else stated + total
