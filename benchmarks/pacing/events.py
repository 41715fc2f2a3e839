"""Virtual time: a clock that jumps to whatever happens next."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any


class Events:
    """What is going to happen, in order of time; at equal times in the order it was planned."""

    def __init__(self) -> None:
        self.now = 0.0
        self._planned: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._number = 0

    def at(self, time: float, action: Callable[..., None], *arguments: Any) -> None:
        """Plan an action; what should already have happened happens next."""
        self._number += 1
        heapq.heappush(self._planned, (max(time, self.now), self._number, action, arguments))

    def run(self, until: float) -> None:
        """Let everything happen that is due by then."""
        planned = self._planned
        while planned and planned[0][0] <= until:
            self.now, _, action, arguments = heapq.heappop(planned)
            action(*arguments)
        self.now = max(self.now, until)
