"""Configured limits: what is never exceeded, whatever a provider says or allows."""

import msgspec

from headgate.core.rate import Limit


class Ceilings(msgspec.Struct, frozen=True):
    """What the user has set for a gate. A gate without any has no ceiling."""

    limits: tuple[Limit, ...] = ()
    """All of them hold at once: 10/s and 100/min."""
    burst: int = 1
    """How many may go out at once after a rest; one more than the limit allows for each above 1."""
    concurrency: int | None = None
    """The most requests in flight."""
    refusals: tuple[int, ...] = ()
    """Statuses that ask us to slow down, beside 429 and a 503 with Retry-After."""
    longest_wait_s: float = 3_600.0
    """No Retry-After is believed beyond this."""

    @property
    def rate(self) -> float | None:
        """The tightest limit, in requests a second."""
        return min((limit.count / limit.seconds for limit in self.limits), default=None)

    def opens_at(self, due: list[float]) -> float:
        """When all limits let the next one pass; `due` holds one moment for each (GCRA)."""
        spare, opens_at = self.burst - 1, 0.0
        for at, limit in zip(due, self.limits, strict=False):
            opens_at = max(opens_at, at - spare * limit.seconds / limit.count)
        return opens_at

    def spend(self, due: list[float], now: float) -> list[float]:
        """Every limit's moment after one more has gone out."""
        return [
            max(at, now) + limit.seconds / limit.count
            for at, limit in zip(due or [now] * len(self.limits), self.limits, strict=True)
        ]
