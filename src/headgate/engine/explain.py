"""Answers for people, from figures alone: how fast, and how much longer."""

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from math import ceil, floor
from typing import NamedTuple


class Sample(NamedTuple):
    """How many items were finished at a moment."""

    at_s: float
    finished: int


class Band(NamedTuple):
    """How long it may take; `high_s` None means that nobody can say."""

    low_s: float
    high_s: float | None


class Meter:
    """Recent progress: samples a second apart, for the last minute."""

    SPACING_S = 1.0
    KEPT = 61

    def __init__(self) -> None:
        self._samples: deque[Sample] = deque(maxlen=self.KEPT)

    def add(self, at_s: float, finished: int) -> None:
        """Take in a reading; those that follow too closely replace nothing and are dropped."""
        if not self._samples or at_s - self._samples[-1].at_s >= self.SPACING_S:
            self._samples.append(Sample(at_s, finished))

    @property
    def samples(self) -> Sequence[Sample]:
        """What the answers are computed from, oldest first."""
        return tuple(self._samples)

    def rate(self) -> float | None:
        """Items a second over the last minute; None before there is anything to compare."""
        if len(self._samples) < 2:
            return None
        first, last = self._samples[0], self._samples[-1]
        return max(last.finished - first.finished, 0) / (last.at_s - first.at_s)

    def eta(self, remaining: int) -> Band | None:
        """How much longer, as a band."""
        return eta_band(self.samples, remaining)


WINDOW = 5
"""Samples per rate: single seconds jump with every commit and every closed gate."""


def eta_band(samples: Sequence[Sample], remaining: int) -> Band | None:
    """The time that `remaining` items take at the fast and at the slow end of recent rates.

    None while nothing has moved: no figure is better than an invented one.
    """
    if remaining <= 0:
        return Band(0.0, 0.0)
    rates = sorted(_rates(samples))
    if not rates or rates[-1] <= 0:
        return None
    slow, fast = quantile(rates, 0.1), quantile(rates, 0.9)
    if fast <= 0:
        return Band(remaining / rates[-1], None)
    return Band(remaining / fast, remaining / slow if slow > 0 else None)


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which `share` of the sorted values lie, between neighbours in proportion."""
    place = (len(ordered) - 1) * share
    low = floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


DASH = "\N{EN DASH}"
UNITS = (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0), ("s", 1.0))


def band_in_words(band: Band | None) -> str:
    """A range such as 2-3 min, `about 40 s` or `over 5 min`; `?` when nobody knows."""
    if band is None:
        return "?"
    top_s = band.low_s if band.high_s is None else band.high_s
    # Two of a unit are needed before it is worth using: "90 s" says more than "2 min".
    unit, size = next(((u, s) for u, s in UNITS if top_s >= 2 * s), UNITS[-1])
    low = max(floor(band.low_s / size), 1 if unit == "s" else 0)
    if band.high_s is None:
        return f"over {low} {unit}"
    high = max(ceil(band.high_s / size), 1)
    if low == 0:
        return f"under {high} {unit}"
    return f"about {high} {unit}" if low >= high else f"{low}{DASH}{high} {unit}"


def _rates(samples: Sequence[Sample]) -> list[float]:
    if len(samples) <= WINDOW:
        pairs = list(pairwise(samples))
    else:
        pairs = list(zip(samples, samples[WINDOW:], strict=False))
    return [
        max(later.finished - earlier.finished, 0) / (later.at_s - earlier.at_s)
        for earlier, later in pairs
        if later.at_s > earlier.at_s
    ]
