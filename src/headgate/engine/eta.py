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
    """Recent progress: samples a second apart, for the last minute.

    Commands, API, pages and metrics show its `rate` as the rate now, so that they agree.
    """

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
        """Items a second now: see `rate_now`."""
        return rate_now(self.samples)

    def rate_over(self, seconds: float) -> float | None:
        """Items a second over exactly these last seconds; None before they have passed."""
        samples = self.samples
        if not samples or samples[-1].at_s - samples[0].at_s < seconds:
            return None
        return rate_since(samples, samples[-1].at_s - seconds)

    def eta(self, remaining: int, held: "HoldPeriod | None" = None) -> Band | None:
        """How much longer, as a band."""
        return eta_band(self.samples, remaining, held)


class HoldPeriod(NamedTuple):
    """Nothing moves until a known moment, because a gate is closed or a host does not answer."""

    seconds: float
    """From now until it is over."""
    per_s: float | None = None
    """The rate that is known of the gate; None: not known."""


RECENT_S = 5.0
"""The rate now is that of these last seconds: a single one jumps with every commit."""
FEW = 10
"""If the last items came further apart than that, the rate is that of this many of them."""


def rate_now(samples: Sequence[Sample]) -> float | None:
    """Items a second in the last 5 s; of a slow job, over the time that its last 10 items took.

    It looks back a minute at most. None before there is anything to compare.
    """
    if len(samples) < 2:
        return None
    now_s, finished = samples[-1]
    began_s = moment_of(samples, max(finished - FEW, samples[0].finished))
    ended_s = moment_of(samples, finished)
    is_slow = ended_s - began_s > RECENT_S
    return rate_since(samples, began_s if is_slow else max(now_s - RECENT_S, samples[0].at_s))


def moment_of(samples: Sequence[Sample], finished: int) -> float:
    """When so many items were finished at last, between samples in proportion."""
    for earlier, later in reversed(list(pairwise(samples))):
        if earlier.finished < finished <= later.finished:
            share = (finished - earlier.finished) / (later.finished - earlier.finished)
            return earlier.at_s + (later.at_s - earlier.at_s) * share
    return samples[0].at_s


def rate_since(samples: Sequence[Sample], since_s: float) -> float:
    """The mean rate from a moment until the last sample, between samples in proportion."""
    last, finished = samples[-1], float(samples[0].finished)
    for earlier, later in pairwise(samples):
        if earlier.at_s <= since_s <= later.at_s:
            share = (since_s - earlier.at_s) / (later.at_s - earlier.at_s)
            finished = earlier.finished + (later.finished - earlier.finished) * share
    return max(last.finished - finished, 0.0) / max(last.at_s - since_s, 1e-9)


LOOKED_AT_S = 20.0
"""How far back the rates are looked at that make the ends of a band."""
WIDEST = 3.0
"""A band reaches at most to this multiple of the time at the rate now."""
YOUNG_S = 2.0
"""Until then nothing is said: the first rows do not show the pace."""


def eta_band(
    samples: Sequence[Sample], remaining: int, held: HoldPeriod | None = None
) -> Band | None:
    """The time that `remaining` items take at the rate now, from fast to slow.

    The rates of the last seconds make the two ends. Where nothing moves, the last minute gives the
    lower end alone; None if nothing moved in it. While a gate is closed, the time until it opens
    is added, and the upper end stays open.
    """
    if remaining <= 0:
        return Band(0.0, 0.0)
    if held is not None:
        return _after_hold(samples, remaining, held)
    if len(samples) < 2 or samples[-1].at_s - samples[0].at_s < YOUNG_S:
        return None
    now = rate_now(samples) or 0.0
    if now <= 0:
        before = rate_since(samples, samples[0].at_s)
        return Band(remaining / before, None) if before > 0 else None
    rates = sorted([now, *_rates([s for s in samples if samples[-1].at_s - s.at_s <= LOOKED_AT_S])])
    slow = max(quantile(rates, 0.1), now / WIDEST)
    fast = min(quantile(rates, 0.9), now * WIDEST)
    return Band(remaining / max(fast, now), remaining / min(slow, now))


def _after_hold(samples: Sequence[Sample], remaining: int, held: HoldPeriod) -> Band:
    """What it takes at least: the wait, and then the pace of before or of the gate."""
    moved = sorted(rate for rate in _rates(samples) if rate > 0)
    known = [quantile(moved, 0.9)] if moved else []
    known += [held.per_s] if held.per_s else []
    return Band(held.seconds + (remaining / min(known) if known else 0.0), None)


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


WINDOW = 5
"""Samples per rate of a band."""


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
