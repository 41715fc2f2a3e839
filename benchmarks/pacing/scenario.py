"""One provider and the work that is sent to it, as a value that can be run again and again."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from benchmarks.pacing.limits import Limit
from benchmarks.pacing.manners import SILENT, Silent

Change = tuple[float, float]
"""When, and how many times the first limit it is from then on."""


class Spikes(NamedTuple):
    """At the end of every period, for a few seconds, a share of the answers are status 500."""

    period_s: float
    lasts_s: float
    share: float

    def covers(self, now: float) -> bool:
        """Whether the server is having one."""
        return now % self.period_s > self.period_s - self.lasts_s


class Strays(NamedTuple):
    """Refusals that no limit explains: one in this number of requests, drawn at random."""

    among: int
    count: int = 0
    share: float = 0.0
    """Instead of a count: each request is refused with this probability."""
    retry_after: str = ""
    """What such a refusal asks for; empty: nothing."""

    def places(self, seed: int) -> frozenset[int]:
        """The numbers of the requests that are refused, counted from 0 as they arrive."""
        rng = Random(seed * 6_700_417 + 11)
        if self.share:
            return frozenset(i for i in range(self.among) if rng.random() < self.share)
        return frozenset(rng.sample(range(self.among // 50, self.among), self.count))


class Latency(NamedTuple):
    """How long the server works on a request: log-normal."""

    median_s: float = 0.1225
    sigma: float = 0.5446

    @property
    def log_median(self) -> float:
        """The law's first parameter."""
        return math.log(self.median_s)

    @property
    def mean_s(self) -> float:
        """What it takes on average."""
        return math.exp(self.log_median + self.sigma * self.sigma / 2)


LATENCY = Latency()
"""5 % take less than 50 ms and 5 % more than 300 ms."""


class Demand(NamedTuple):
    """There is work for some seconds, then none for some; without pauses there is always work."""

    works_s: float = math.inf
    rests_s: float = 0.0
    items: float = math.inf
    """How much work there is in all."""

    def next_work(self, now: float) -> float:
        """The time from which on there is work: now, or when the pause ends."""
        if math.isinf(self.works_s):
            return now
        period_s = self.works_s + self.rests_s
        into_s = now % period_s
        return now if into_s < self.works_s else now - into_s + period_s


ALWAYS = Demand()


@dataclass(frozen=True)
class Scenario:
    """A limit with manners, moods and a temper, and how many workers want to use it how long."""

    name: str
    limit: Callable[[], Limit] | None
    manners: Silent = SILENT
    seconds: float = 300.0
    workers: int = 32
    changes: tuple[Change, ...] = ()
    refusal_status: int = 429
    spikes: Spikes | None = None
    strays: Strays | None = None
    ban_after: int | None = None
    """More refusals than this within ten seconds are answered with a ban."""
    slots: int | None = None
    """How many requests the server works on at once; the others queue there."""
    latency: Latency = LATENCY
    wire: float = 1.0
    """How long the way there and back is, in the study's 50 ms."""
    demand: Demand = ALWAYS
