"""Estimates how long a batch takes, from a part of it that is run in virtual time.

The beginning is simulated with the real pacing code: a start, finding the limit, and a while at it.
A batch that ends within that is known exactly. A longer one is extrapolated: the rest goes at the
rate of the last part of the run, and is refused as often, but no more than the pace allows.

Two cases are corrected. A rate that was still growing when the simulation ended goes on growing as
fast, up to what limits and lanes let through. A limit over a longer time than was simulated, such
as 2000/day, is added by arithmetic.

The band comes from three runs with different seeds, in which answers take the assumed time, a fifth
less and a quarter more, and the provider's windows end at different times. It is widened a little.
"""

import bisect
import math
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from random import Random

import msgspec

from headgate.core.pacing.state import Cause
from headgate.core.pacing.trust import DUE_SHARE
from headgate.core.rate import Limit
from headgate.engine.plan.assumed import LONG_S
from headgate.engine.plan.run import Effort, RunCourse, VirtualRun
from headgate.engine.plan.workload import Workload

VARIANTS = ((1, 1.0), (2, 0.8), (3, 1.25))
"""Seed, and the factor on the assumed latency; the first is the likely one."""
NARROW, WIDE = 0.97, 1.05
"""Factors that widen the band."""
SHORTEST_S = 45.0
WINDOWS = 5
"""Windows of the provider that a run simulates, if that does not need too many requests."""
STRETCH_S, NEAR = 2.0, (0.7, 1.4)
"""Three stretches of these seconds within this range of the steady rate mean that it is found."""
GROWING = 1.03
"""A rate that grows by more than this factor from one quarter of the run to the next is not steady.
"""


class BindingLimit(StrEnum):
    RATE = "rate"
    CAP = "cap"
    CEILING = "ceiling"
    CONCURRENCY = "concurrency"
    BUDGET = "budget"
    LANES = "lanes"
    START = "start"

    @property
    def words(self) -> str:
        return _WORDS[self]


_WORDS = {
    BindingLimit.RATE: "the provider's limit",
    BindingLimit.CAP: "how many the provider takes at once",
    BindingLimit.CEILING: "the configured rate",
    BindingLimit.CONCURRENCY: "the provider's configured concurrency",
    BindingLimit.BUDGET: "the budget",
    BindingLimit.LANES: "the time answers take",
    BindingLimit.START: "the careful start: it ended before a limit was found",
}
_BY_CAUSE = {
    Cause.OPEN: BindingLimit.LANES,
    Cause.CAP: BindingLimit.CAP,
    Cause.CEILING: BindingLimit.CEILING,
    Cause.CONCURRENCY: BindingLimit.CONCURRENCY,
    Cause.BUDGET: BindingLimit.BUDGET,
}
"""All other causes are about the provider's rate."""


class Estimate(msgspec.Struct, frozen=True):
    seconds: float
    binding: BindingLimit
    refused: int
    steady_per_s: float
    found_s: float | None
    """Seconds until it went at about that rate; None if it ended before."""
    simulated: int
    """Requests that were simulated; if fewer than all, the rest is extrapolated."""


class Forecast(msgspec.Struct, frozen=True):
    workload: Workload
    likely: Estimate
    low_s: float
    high_s: float

    @property
    def extrapolated(self) -> bool:
        return self.likely.simulated < self.workload.requests


def forecast_runs(workload: Workload, now_s: float) -> Forecast:
    estimates = [estimate(workload, now_s, seed, factor) for seed, factor in VARIANTS]
    seconds = [each.seconds for each in estimates]
    return Forecast(workload, estimates[0], NARROW * min(seconds), WIDE * max(seconds))


def estimate(
    workload: Workload, now_s: float, seed: int = 1, latency_factor: float = 1.0
) -> Estimate:
    workload = msgspec.structs.replace(workload, latency_s=workload.latency_s * latency_factor)
    if not workload.requests:
        return Estimate(0.0, BindingLimit.LANES, 0, 0.0, 0.0, 0)
    rng = Random(seed)  # noqa: S311 (a simulation, the same each time)
    windows = [WINDOWS * limit.seconds for limit in workload.assumed.limits]
    course = VirtualRun(workload, rng, now_s, Effort(seconds=max([SHORTEST_S, *windows]))).run()
    steady = _steady_rate(workload, course)
    found = Estimate(
        seconds=course.seconds,
        binding=_binding(workload, course),
        refused=len(course.refused),
        steady_per_s=steady,
        found_s=_seconds_to_steady(course, steady),
        simulated=len(course.answered),
    )
    return found if course.complete else _extrapolated(workload, course, found)


def _extrapolated(workload: Workload, course: RunCourse, found: Estimate) -> Estimate:
    """The estimate for the whole batch."""
    growth = _Growth.of(workload, course)
    rest = workload.requests - found.simulated
    if growth is None:
        seconds, steady, binding = rest / found.steady_per_s, found.steady_per_s, found.binding
        found_s = found.found_s
    else:
        seconds, steady = growth.takes_s(rest)
        grown = steady >= growth.most
        binding = _tightest(workload) if grown else found.binding
        found_s = course.seconds + growth.lasts_s if grown else None
    least_s, limit = _least(workload)
    if least_s > found.seconds + seconds:
        seconds, steady = least_s - found.seconds, workload.requests / least_s
        binding = _kind(workload, limit)
    half = course.seconds / 2
    late = min(_number(course.refused, half) / max(_number(course.answered, half), 1), DUE_SHARE)
    return msgspec.structs.replace(
        found,
        seconds=found.seconds + seconds,
        steady_per_s=steady,
        found_s=found_s,
        binding=binding,
        refused=found.refused + round(late * rest),
    )


class _Growth(msgspec.Struct, frozen=True):
    """A rate that was still growing when the simulation ended."""

    per_s: float
    """The rate at the end of the simulation."""
    slope: float
    most: float

    @classmethod
    def of(cls, workload: Workload, course: RunCourse) -> "_Growth | None":
        if course.refused:
            return None  # the limit has been found
        quarter = course.seconds / 4
        before = _rate(course.answered, 2 * quarter, 3 * quarter)
        last = _rate(course.answered, 3 * quarter, 4 * quarter)
        if last <= GROWING * before or workload.allowed <= GROWING * last:
            return None
        return cls(last, (last - before) / quarter, workload.allowed)

    @property
    def lasts_s(self) -> float:
        return (self.most - self.per_s) / self.slope

    def takes_s(self, requests: int) -> tuple[float, float]:
        """Seconds that these requests take, and the rate at their end."""
        grown = self.lasts_s * (self.per_s + self.most) / 2
        if grown < requests:
            return self.lasts_s + (requests - grown) / self.most, self.most
        last = math.sqrt(self.per_s**2 + 2 * self.slope * requests)
        return (last - self.per_s) / self.slope, last


def _steady_rate(workload: Workload, course: RunCourse) -> float:
    """Answers a second in the last half, or in the last whole windows of the provider."""
    since = course.seconds / 2
    mean = _rate(course.answered, 0.0, course.seconds)
    for window_s in sorted((limit.seconds for limit in workload.assumed.limits), reverse=True):
        if window_s <= since:
            since = course.seconds - window_s * int(0.75 * course.seconds / window_s)
            break
        if course.complete and window_s >= LONG_S:
            return mean  # a part of a window is not a measure
        if workload.allowed < mean:
            return workload.allowed  # the window is not used up yet, but will be
    return _rate(course.answered, since, course.seconds) or workload.allowed


def _number(times: Sequence[float], since: float) -> int:
    return len(times) - bisect.bisect(times, since)


def _rate(times: Sequence[float], since: float, until: float) -> float:
    number = bisect.bisect(times, until) - bisect.bisect(times, since)
    return number / max(until - since, 1e-9)


def _least(workload: Workload) -> tuple[float, Limit | None]:
    """The seconds that the limits alone require, and the limit that requires most."""
    share = workload.requests / workload.credentials
    needs = [
        ((share - limit.count) / limit.count * limit.seconds, number)
        for number, limit in enumerate(workload.bounds())
    ]
    least_s, number = max(needs, default=(0.0, -1))
    return max(least_s, 0.0), workload.bounds()[number] if needs else None


def _kind(workload: Workload, limit: Limit | None) -> BindingLimit:
    if limit in workload.assumed.limits:
        return BindingLimit.RATE
    return BindingLimit.CEILING if limit in workload.ceilings.limits else BindingLimit.BUDGET


def _tightest(workload: Workload) -> BindingLimit:
    """The limit that binds in the long run."""
    for limit in workload.bounds():
        if limit.count / limit.seconds * workload.credentials <= workload.allowed:
            return _kind(workload, limit)
    return BindingLimit.LANES


def _binding(workload: Workload, course: RunCourse) -> BindingLimit:
    """What held the lanes back for the longest time in the last third."""
    if _rate(course.answered, course.seconds * 2 / 3, course.seconds) > 0.9 * workload.answerable:
        return BindingLimit.LANES
    tally: Counter[BindingLimit] = Counter()
    for until, lasted_s, cause in course.held:
        if until > course.seconds * 2 / 3:
            tally[_bound_by(workload, cause)] += lasted_s  # type: ignore[assignment]  # seconds
    most = tally.most_common(1)[0][0] if tally else BindingLimit.LANES
    if most is BindingLimit.RATE and not (course.refused or workload.remembered):
        return BindingLimit.START
    return most


def _bound_by(workload: Workload, cause: Cause) -> BindingLimit:
    found = _BY_CAUSE.get(cause, BindingLimit.RATE)
    if found is BindingLimit.RATE and workload.ceilings.limits and not workload.assumed.limits:
        return BindingLimit.CEILING  # several processes share it as a rate
    return found


def _seconds_to_steady(course: RunCourse, steady: float) -> float | None:
    """Seconds until the run stayed near the steady rate for a while; None if it never did."""
    stretch_s = max(STRETCH_S, 20 / max(steady, 1e-9))
    number = int(course.seconds / stretch_s)
    near = [
        NEAR[0] < _rate(course.answered, at * stretch_s, (at + 1) * stretch_s) / steady < NEAR[1]
        for at in range(number)
    ]
    return next(
        (at * stretch_s for at in range(number - 2) if near[at] and near[at + 1] and near[at + 2]),
        None,
    )
