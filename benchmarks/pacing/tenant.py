"""Another user of the same limit: other people behind one address, a shared key."""

from __future__ import annotations

from benchmarks.pacing.limits import Decision, Limit, Policy


class Shared(Limit):
    """Another tenant takes its share in even steps, whatever we do; what is left is ours."""

    def __init__(self, limit: Limit, taken: float) -> None:
        super().__init__()
        self._limit = limit
        self._taken = taken
        self._next_at = 0.0

    def rescale(self, now: float, scale: float) -> None:
        self._limit.rescale(now, scale)

    def decide(self, now: float) -> Decision:
        while self._next_at <= now:
            self._limit.decide(self._next_at)
            self._next_at += 1 / (self._taken * self._limit.rate())
        return self._limit.decide(now)

    def rate(self) -> float:
        return (1 - self._taken) * self._limit.rate()

    def policy(self) -> Policy | None:
        """Headers tell the whole limit, as they do in life."""
        return self._limit.policy()
