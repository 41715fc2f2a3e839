"""Readings of unfinished jobs: what limits each of them, and their time series."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence

import msgspec

from headgate.app.loops import Sign
from headgate.app.telemetry import logger
from headgate.core.errors import HeadgateError, UnknownJob
from headgate.core.gates.config import GateLimits
from headgate.core.gates.view import GateView
from headgate.core.job import Counts, Job
from headgate.core.status import UNFINISHED
from headgate.core.waiting import Situation
from headgate.engine.gate_control import GateReading, JobGates
from headgate.engine.why import LimitedBy, limit_from_facts, read_gates_or_none
from headgate.ports.clock import Clock
from headgate.ports.reads import JobQuery
from headgate.ports.store import Store
from headgate.schema.jobs import GatePoint


class _CachedLimit(msgspec.Struct):
    gates: JobGates
    lock: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)
    """Concurrent callers wait for one read."""
    reading: GateReading | None = None
    read_s: float = float("-inf")
    at: Situation | None = None
    at_s: float = float("-inf")


class LimitCache:
    FRESH_S = 1.0
    KEPT = 200

    def __init__(
        self, store: Store, limits: GateLimits, clock: Clock, providers: Mapping[str, str]
    ) -> None:
        self._store = store
        self._limits = limits
        self._clock = clock
        self._providers = providers
        """Providers that handlers declare."""
        self._limit_cache: OrderedDict[int, _CachedLimit] = OrderedDict()

    async def limit_of(self, job: Job) -> LimitedBy:
        if job.state not in UNFINISHED:
            return LimitedBy()
        try:
            reading = await self.read(job.id)
            at = await self.situation(job.id)
        except UnknownJob:  # deleted since the job was read
            return LimitedBy()
        return limit_from_facts(job, at, reading)

    async def situation(self, job_id: int) -> Situation:
        """Return the stored situation of a job, or raise UnknownJob."""
        cached = await self._gauge(job_id)
        async with cached.lock:
            now_s = self._clock.monotonic()
            if cached.at is None or now_s - cached.at_s >= self.FRESH_S:
                cached.at = await self._store.situations.of(job_id)
                cached.at_s = now_s
            return cached.at

    async def read(self, job_id: int) -> GateReading | None:
        """Return the gates of a job; None if the ledger does not answer or the job was deleted."""
        try:
            cached = await self._gauge(job_id)
        except UnknownJob:
            return None
        async with cached.lock:
            now_s = self._clock.monotonic()
            if now_s - cached.read_s >= self.FRESH_S:
                cached.reading = await read_gates_or_none(cached.gates)
                cached.read_s = now_s
            return cached.reading

    async def gates_of(self, job_id: int) -> JobGates:
        """Return the gates of a job without using the cache."""
        return (await self._gauge(job_id)).gates

    async def _gauge(self, job_id: int) -> _CachedLimit:
        if job_id not in self._limit_cache:
            job = await self._store.reads.job(job_id)
            provider = self._providers.get(job.handler, "")
            gates = JobGates(self._store, self._limits, job_id, provider, guesses=False)
            self._limit_cache.setdefault(job_id, _CachedLimit(gates))
        self._limit_cache.move_to_end(job_id)
        while len(self._limit_cache) > self.KEPT:
            self._limit_cache.popitem(last=False)
        return self._limit_cache[job_id]


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
