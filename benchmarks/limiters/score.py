"""What a run came to, by the server's log alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.limiters.limiter import Limiter
from tests.kit.access_log import REFUSALS, Logged

MUST_GOODPUT, MUST_REFUSED, FREE_REFUSALS = 0.9, 0.01, 10


@dataclass(frozen=True)
class Score:
    """One contender at one limiter."""

    limiter: str
    contender: str
    processes: int
    seconds: float
    allowed: float
    taken_per_s: tuple[int, ...]
    """In each second since the first request came."""
    refused_per_s: tuple[int, ...]
    failed: int
    """Answers that are neither."""

    @property
    def taken(self) -> int:
        return sum(self.taken_per_s)

    @property
    def refused(self) -> int:
        return sum(self.refused_per_s)

    @property
    def goodput(self) -> float:
        """Taken, as a share of what the limit allowed."""
        return self.taken / self.allowed

    @property
    def refused_share(self) -> float:
        return self.refused / max(self.taken + self.refused, 1)

    @property
    def clean(self) -> bool:
        few = self.refused_share <= MUST_REFUSED or self.refused <= FREE_REFUSALS
        return self.goodput >= MUST_GOODPUT and few


def began(log: Sequence[Logged]) -> float:
    """When the first request came: that far a start is cold, and no program is being loaded."""
    return min(each.arrived_s for each in log)


def judge(
    limiter: Limiter, contender: str, processes: int, seconds: float, log: Sequence[Logged]
) -> Score:
    """Count what arrived in the first `seconds` since the first request."""
    since = began(log)
    counted = [each for each in log if each.arrived_s - since < seconds]
    taken = [each for each in counted if each.status < 400]
    refused = [each for each in counted if each.status in REFUSALS]
    return Score(
        limiter.name,
        contender,
        processes,
        seconds,
        limiter.allowed(seconds, taken),
        per_second(taken, since, seconds),
        per_second(refused, since, seconds),
        len(counted) - len(taken) - len(refused),
    )


def per_second(log: Sequence[Logged], since: float, seconds: float) -> tuple[int, ...]:
    counts = [0] * max(int(seconds + 0.999), 1)
    for each in log:
        counts[int(each.arrived_s - since)] += 1
    return tuple(counts)
