"""Leased items that wait for a lane."""

import asyncio
from collections import deque

from headgate.core.item import ClaimedItem


class Buffer:
    """A bounded prefetch: the dispatcher fills it before the lanes run out of items."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[ClaimedItem, float]] = deque()
        self._filled = asyncio.Event()
        self._drained = asyncio.Event()
        self._wanted = asyncio.Event()
        self._low_water = 0
        self.hungry = 0
        """Lanes that wait for an item."""

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, items: list[ClaimedItem], now_s: float) -> None:
        self._waiting.extend((item, now_s) for item in items)
        if items:
            self._filled.set()

    def take(self) -> tuple[ClaimedItem, float] | None:
        """The next item and the time of its claim, or None."""
        if not self._waiting:
            return None
        taken = self._waiting.popleft()
        if len(self._waiting) <= self._low_water:
            self._drained.set()
        return taken

    def take_like(self, first: ClaimedItem, limit: int) -> list[ClaimedItem]:
        """Up to `limit` more items from the head that can share a call with `first`."""
        more: list[ClaimedItem] = []
        while self._waiting and len(more) < limit:
            item, _ = self._waiting[0]
            if (item.job_id, item.strategy) != (first.job_id, first.strategy):
                break
            more.append(item)
            self.take()
        return more

    def remove_all(self) -> list[ClaimedItem]:
        removed = [item for item, _ in self._waiting]
        self._waiting.clear()
        self._drained.set()
        return removed

    def remove_job(self, job_id: int) -> list[ClaimedItem]:
        removed = [item for item, _ in self._waiting if item.job_id == job_id]
        self._waiting = deque(each for each in self._waiting if each[0].job_id != job_id)
        self._drained.set()
        return removed

    def remove_claimed_before(self, moment_s: float) -> list[ClaimedItem]:
        """Remove the items that were claimed before `moment_s`; the oldest are at the head."""
        removed = []
        while self._waiting and self._waiting[0][1] < moment_s:
            removed.append(self._waiting.popleft()[0])
        if removed:
            self._drained.set()
        return removed

    def count(self, job_id: int) -> int:
        return sum(item.job_id == job_id for item, _ in self._waiting)

    def job_ids(self) -> set[int]:
        return {item.job_id for item, _ in self._waiting}

    async def wait_filled(self) -> None:
        self._filled.clear()
        if self._waiting:
            return
        self.hungry += 1
        self._wanted.set()
        try:
            await self._filled.wait()
        finally:
            self.hungry -= 1

    async def wait_low(self, low_water: int) -> None:
        self._low_water = low_water
        self._drained.clear()
        if len(self._waiting) > low_water:
            await self._drained.wait()

    async def wait_hungry(self) -> None:
        self._wanted.clear()
        if self._waiting or not self.hungry:
            await self._wanted.wait()

    def wake(self) -> None:
        self._wanted.set()
        self._filled.set()
        self._drained.set()
