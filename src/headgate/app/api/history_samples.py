"""Keeps how unfinished jobs stood, for those who look later."""

from collections import OrderedDict
from collections.abc import Sequence

import msgspec

from headgate.app.api.limit_cache import LimitCache
from headgate.app.loops import Sign
from headgate.app.telemetry import logger
from headgate.core.errors import HeadgateError
from headgate.core.gates.view import GateView
from headgate.core.job import Counts
from headgate.core.status import UNFINISHED
from headgate.ports.clock import Clock
from headgate.ports.reads import JobQuery
from headgate.ports.store import Store


class GatePoint(msgspec.Struct, frozen=True):
    """What a gate let through at a moment, and how it answered."""

    name: str
    now_per_s: float | None
    latency_s: float | None
    refused_share: float
    in_flight: int


class JobPoint(msgspec.Struct, frozen=True):
    """How a job stood at a moment."""

    at_us: int
    counts: Counts
    gates: Sequence[GatePoint] = ()


class Series:
    """Readings of one job: the longer it runs, the further they lie apart."""

    KEPT = 240

    def __init__(self) -> None:
        self._kept: list[JobPoint] = []
        self._last: JobPoint | None = None
        self._seen = 0
        self._step = 1

    def add(self, reading: JobPoint) -> None:
        """Take in how it stands now."""
        if self._seen % self._step == 0:
            self._kept.append(reading)
        self._seen += 1
        self._last = reading
        if len(self._kept) >= self.KEPT:
            self._kept = self._kept[::2]
            self._step *= 2

    @property
    def readings(self) -> list[JobPoint]:
        """What was kept, oldest first; the last one is always among them."""
        is_last_kept = not self._kept or self._kept[-1] is self._last
        return self._kept if is_last_kept or self._last is None else [*self._kept, self._last]


MOST_GATES = 4
"""Gates of a reading: those that answered most."""


def points_of(views: Sequence[GateView]) -> list[GatePoint]:
    """What is kept of gates."""
    busiest = sorted(views, key=lambda view: view.replies, reverse=True)[:MOST_GATES]
    return [
        GatePoint(view.name, view.now_per_s, view.latency_s, view.refused_share, view.in_flight)
        for view in busiest
        if view.replies
    ]


class HistorySamples:
    """One for each job that was seen unfinished, for as long as the server runs."""

    PERIOD_S = 2.0
    WATCHED = 50
    """Unfinished jobs that are looked at, the newest."""
    KEPT = 100

    def __init__(self, store: Store, limit_cache: LimitCache, clock: Clock) -> None:
        self._store = store
        self._limit_cache = limit_cache
        self._clock = clock
        self._series: OrderedDict[int, Series] = OrderedDict()
        self._unfinished: set[int] = set()

    async def run(self, sign: Sign) -> None:
        """Look again and again."""
        while True:
            try:
                await self.look()
            except HeadgateError as error:
                logger().warning("no reading of the jobs was taken", error=str(error))
            sign()
            await self._clock.sleep(self.PERIOD_S)

    async def look(self) -> None:
        """Take one reading of each; of those that ended meanwhile, the last one."""
        reads = self._store.reads
        jobs = await reads.jobs(JobQuery(states=UNFINISHED, limit=self.WATCHED, configs=False))
        ids = {job.id for job in jobs}
        for job_id in (*ids, *(self._unfinished - ids)):
            await self._note(job_id)
        self._unfinished = ids

    def of(self, job_id: int) -> Sequence[JobPoint]:
        """How a job stood, oldest first; nothing if it ended before the server began."""
        series = self._series.get(job_id)
        return series.readings if series else ()

    async def _note(self, job_id: int) -> None:
        counts = await self._store.reads.counts(job_id)
        gates = await self._points(job_id) if counts.processing else ()
        series = self._series.setdefault(job_id, Series())
        series.add(JobPoint(self._clock.now(), counts, gates))
        self._series.move_to_end(job_id)
        while len(self._series) > self.KEPT:
            self._series.popitem(last=False)

    async def _points(self, job_id: int) -> Sequence[GatePoint]:
        reading = await self._limit_cache.read(job_id)
        return points_of(reading.views) if reading else ()
