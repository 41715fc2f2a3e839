"""What a contender reports, and how rounds become one figure."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Values = Mapping[str, float]


class UnavailableError(Exception):
    """This contender cannot run on this machine; the message says what is missing."""


class FailedError(Exception):
    """This contender ran and did not do its work; the message says what it printed."""


@dataclass(frozen=True)
class Round:
    """One pass over all contenders: what each measured, or why it could not run or failed."""

    values: dict[str, Values] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def reason(self, contender: str) -> str:
        return self.missing.get(contender) or self.failed.get(contender, "")


@dataclass(frozen=True)
class Spread:
    """The median of the rounds with the lowest and the highest of them."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, samples: Sequence[float]) -> Spread:
        return cls(statistics.median(samples), min(samples), max(samples))
