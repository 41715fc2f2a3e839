"""What got through, and when: the best evidence of where a limit lies."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class Delivery:
    """The times of all requests that passed the limiter, of the last ten minutes."""

    MEMORY_S = 600.0

    def __init__(self) -> None:
        self._times: list[float] = []

    def add(self, now: float) -> None:
        """One more has passed."""
        self._times.append(now)

    def between(self, start: float, end: float) -> int:
        """How many passed after `start`, up to `end`."""
        times = self._times
        first = max(bisect_right(times, start), bisect_left(times, end - self.MEMORY_S))
        return bisect_right(times, end) - first
