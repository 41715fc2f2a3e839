"""Time series of unfinished jobs, in memory and bounded in size."""

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
from headgate.schema.jobs import GatePoint


class JobPoint(msgspec.Struct, frozen=True):
    at_us: int
    counts: Counts
    gates: Sequence[GatePoint] = ()


class Series:
    """Readings of one job. When they are too many, every second one is dropped."""

    KEPT = 240

    def __init__(self) -> None:
        self._kept: list[JobPoint] = []
        self._last: JobPoint | None = None
        self._seen = 0
        self._step = 1

    def add(self, reading: JobPoint) -> None:
        if self._seen % self._step == 0:
            self._kept.append(reading)
        self._seen += 1
        self._last = reading
        if len(self._kept) >= self.KEPT:
            self._kept = self._kept[::2]
            self._step *= 2

    @property
    def readings(self) -> list[JobPoint]:
        """Return the readings, oldest first. The newest one is always included."""
        is_last_kept = not self._kept or self._kept[-1] is self._last
        return self._kept if is_last_kept or self._last is None else [*self._kept, self._last]


MOST_GATES = 4
"""Gates in one reading: the ones with the most responses."""


def points_of(views: Sequence[GateView]) -> list[GatePoint]:
    busiest = sorted(views, key=lambda view: view.replies, reverse=True)[:MOST_GATES]
    return [
        GatePoint(
            name=view.name,
            now_per_s=view.now_per_s,
            latency_s=view.latency_s,
            refused_share=view.refused_share,
            in_flight=view.in_flight,
        )
        for view in busiest
        if view.replies
    ]


class HistorySamples:
    """Samples unfinished jobs while the server runs."""

    PERIOD_S = 2.0
    WATCHED = 50
    """Unfinished jobs that are sampled, newest first."""
    KEPT = 100

    def __init__(self, store: Store, limit_cache: LimitCache, clock: Clock) -> None:
        self._store = store
        self._limit_cache = limit_cache
        self._clock = clock
        self._series: OrderedDict[int, Series] = OrderedDict()
        self._unfinished: set[int] = set()

    async def run(self, sign: Sign) -> None:
        while True:
            try:
                await self.sample()
            except HeadgateError as error:
                logger().warning("sampling the jobs failed", error=str(error))
            sign()
            await self._clock.sleep(self.PERIOD_S)

    async def sample(self) -> None:
        """Take one reading of each job, and a last one of each job that ended since."""
        reads = self._store.reads
        jobs = await reads.jobs(JobQuery(states=UNFINISHED, limit=self.WATCHED, configs=False))
        ids = {job.id for job in jobs}
        for job_id in (*ids, *(self._unfinished - ids)):
            await self._note(job_id)
        self._unfinished = ids

    def of(self, job_id: int) -> Sequence[JobPoint]:
        """Return the readings, oldest first; empty if the job ended before the server started."""
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
