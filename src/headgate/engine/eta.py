"""Rate and remaining time of a job, computed from samples of its progress."""

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from math import ceil, floor
from typing import NamedTuple


class Sample(NamedTuple):
    at_s: float
    finished: int


class Band(NamedTuple):
    low_s: float
    high_s: float | None


class Meter:
    """Samples of the last minute, one second apart.

    Commands, API, pages and metrics show its `rate` as the current rate, so that they agree.
    """

    SPACING_S = 1.0
    KEPT = 61

    def __init__(self) -> None:
        self._samples: deque[Sample] = deque(maxlen=self.KEPT)

    def add(self, at_s: float, finished: int) -> None:
        """Add a reading; one that follows the last sample too closely is dropped."""
        if not self._samples or at_s - self._samples[-1].at_s >= self.SPACING_S:
            self._samples.append(Sample(at_s, finished))

    @property
    def samples(self) -> Sequence[Sample]:
        """Oldest first."""
        return tuple(self._samples)

    def rate(self) -> float | None:
        return rate_now(self.samples)

    def rate_over(self, seconds: float) -> float | None:
        """Items a second over exactly these last seconds; None before they have passed."""
        samples = self.samples
        if not samples or samples[-1].at_s - samples[0].at_s < seconds:
            return None
        return rate_since(samples, samples[-1].at_s - seconds)

    def eta(self, remaining: int, held: "HoldPeriod | None" = None) -> Band | None:
        return eta_band(self.samples, remaining, held)


class HoldPeriod(NamedTuple):
    """Nothing moves until a known moment, because a gate is closed or a host does not answer."""

    seconds: float
    """From now until it is over."""
    per_s: float | None = None
    """The known rate of the gate in requests a second; None if it is not known."""


RECENT_S = 5.0
"""The current rate is the mean of these last seconds: over one second it jumps with each commit."""
FEW = 10
"""If the last items took longer than `RECENT_S`, the current rate is the mean of this many."""


def rate_now(samples: Sequence[Sample]) -> float | None:
    """Items a second in the last 5 s; of a slow job, over the time that its last 10 items took.

    Looks back one minute at most. None before there are two samples.
    """
    if len(samples) < 2:
        return None
    now_s, finished = samples[-1]
    began_s = moment_of(samples, max(finished - FEW, samples[0].finished))
    ended_s = moment_of(samples, finished)
    is_slow = ended_s - began_s > RECENT_S
    return rate_since(samples, began_s if is_slow else max(now_s - RECENT_S, samples[0].at_s))


def moment_of(samples: Sequence[Sample], finished: int) -> float:
    """When the job last reached this number of finished items, interpolated between samples."""
    for earlier, later in reversed(list(pairwise(samples))):
        if earlier.finished < finished <= later.finished:
            share = (finished - earlier.finished) / (later.finished - earlier.finished)
            return earlier.at_s + (later.at_s - earlier.at_s) * share
    return samples[0].at_s


def rate_since(samples: Sequence[Sample], since_s: float) -> float:
    """The mean rate from a moment until the last sample, interpolated between samples."""
    last, finished = samples[-1], float(samples[0].finished)
    for earlier, later in pairwise(samples):
        if earlier.at_s <= since_s <= later.at_s:
            share = (since_s - earlier.at_s) / (later.at_s - earlier.at_s)
            finished = earlier.finished + (later.finished - earlier.finished) * share
    return max(last.finished - finished, 0.0) / max(last.at_s - since_s, 1e-9)


LOOKED_AT_S = 20.0
"""Seconds of samples whose rates make the ends of a band."""
WIDEST = 3.0
"""A band reaches at most to this multiple of the time at the current rate."""
YOUNG_S = 2.0
"""No estimate is given in the first seconds: the first rows do not show the pace."""


def eta_band(
    samples: Sequence[Sample], remaining: int, held: HoldPeriod | None = None
) -> Band | None:
    """The time that `remaining` items take at the current rate, from fast to slow.

    The rates of the last seconds make the two ends. If nothing moves, the last minute gives the
    lower end only; None if nothing moved in it. While a gate is closed, the time until it opens is
    added, and the upper end stays open; the current rate includes short waits already.
    """
    if remaining <= 0:
        return Band(0.0, 0.0)
    now = rate_now(samples) or 0.0
    if held is not None and (held.seconds > RECENT_S or now <= 0 or _is_young(samples)):
        return _after_hold(samples, remaining, held)
    if _is_young(samples):
        return None
    if now <= 0:
        before = rate_since(samples, samples[0].at_s)
        return Band(remaining / before, None) if before > 0 else None
    rates = sorted([now, *_rates([s for s in samples if samples[-1].at_s - s.at_s <= LOOKED_AT_S])])
    slow = max(quantile(rates, 0.1), now / WIDEST)
    fast = min(quantile(rates, 0.9), now * WIDEST)
    return Band(remaining / max(fast, now), remaining / min(slow, now))


def _is_young(samples: Sequence[Sample]) -> bool:
    return len(samples) < 2 or samples[-1].at_s - samples[0].at_s < YOUNG_S


def _after_hold(samples: Sequence[Sample], remaining: int, held: HoldPeriod) -> Band:
    """The least time: the wait, then the rest at the pace before it or the rate of the gate."""
    before = _until_last_move(samples)
    band = eta_band(before, remaining)
    now = rate_now(before)
    paces_s = [band.low_s] if band else [remaining / now] if now else []
    paces_s += [remaining / held.per_s] if held.per_s else []
    return Band(held.seconds + max(paces_s, default=0.0), None)


def _until_last_move(samples: Sequence[Sample]) -> Sequence[Sample]:
    """The samples without those at the end between which nothing was finished."""
    end = len(samples)
    while end > 1 and samples[end - 1].finished <= samples[end - 2].finished:
        end -= 1
    return samples[:end]


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which `share` of the sorted values lie, interpolated between neighbours."""
    place = (len(ordered) - 1) * share
    low = floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


DASH = "\N{EN DASH}"
UNITS = (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0), ("s", 1.0))


def band_in_words(band: Band | None) -> str:
    """A range such as 2-3 min, `about 40 s` or `over 5 min`; `?` without an estimate."""
    if band is None:
        return "?"
    top_s = band.low_s if band.high_s is None else band.high_s
    # A unit is used from two of it upwards: "90 s" is more precise than "2 min".
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
