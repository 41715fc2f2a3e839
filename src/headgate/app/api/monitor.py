"""Samples progress once a second, for rates, time left and health."""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from headgate.app.api.job_readings import LimitCache
from headgate.app.loops import Sign
from headgate.app.telemetry import logger
from headgate.core.errors import HeadgateError
from headgate.core.gates.wait import Wait, WaitKind
from headgate.core.job import Counts, Job
from headgate.core.status import UNFINISHED
from headgate.core.waiting import SLOW_S, expected_per_s, is_slow
from headgate.engine.eta import Band, Meter
from headgate.engine.why import LimitedBy
from headgate.ports.clock import Clock
from headgate.ports.reads import JobQuery
from headgate.ports.store import Store


class SlowJob(msgspec.Struct, frozen=True):
    job_id: int
    name: str
    wait: Wait


class SlowJobs:
    """Finds slow jobs. Each round checks a few, so the cost does not grow with their number."""

    A_ROUND = 20
    AGAIN_S = 5.0
    """Seconds between two checks of the same job."""

    def __init__(self, store: Store, limit_cache: LimitCache, clock: Clock, lanes: int) -> None:
        self._store = store
        self._limit_cache = limit_cache
        self._clock = clock
        self._lanes = lanes
        """Items that workers process at the same time."""
        self._due_since: dict[int, float] = {}
        self._checked_s: dict[int, float] = {}
        self._found: dict[int, SlowJob] = {}

    @property
    def found(self) -> Sequence[SlowJob]:
        return [self._found[job_id] for job_id in sorted(self._found, reverse=True)]

    async def check(
        self, jobs: Sequence[Job], meters: dict[int, Meter], due: Collection[int]
    ) -> None:
        """Check jobs that have work. `due` are the jobs with items that can be claimed."""
        now_s = self._clock.monotonic()
        known = {job.id for job in jobs}
        self._due_since = {key: at for key, at in self._due_since.items() if key in known}
        self._checked_s = {key: at for key, at in self._checked_s.items() if key in known}
        self._found = {key: each for key, each in self._found.items() if key in known}
        waiting = [job for job in jobs if now_s - self._last(job) >= self.AGAIN_S]
        for job in sorted(waiting, key=self._last)[: self.A_ROUND]:
            self._checked_s[job.id] = now_s
            slow = await self._judged(job, meters[job.id], now_s, is_due=job.id in due)
            self._found.pop(job.id, None)
            if slow is not None:
                self._found[job.id] = slow

    def _last(self, job: Job) -> float:
        return self._checked_s.get(job.id, float("-inf"))

    async def _judged(
        self, job: Job, meter: Meter, now_s: float, *, is_due: bool
    ) -> SlowJob | None:
        limit = await self._limit_cache.limit_of(job)
        wait = limit.wait
        # Items of a host that does not answer become due again every few moments.
        if wait is None or not (is_due or wait.kind is WaitKind.BREAKER):
            self._due_since.pop(job.id, None)
            return None
        if now_s - self._due_since.setdefault(job.id, now_s) < SLOW_S:
            return None
        handler_s = await self._store.situations.handler_s(job.id)
        gates = limit.reading.views if limit.reading else ()
        expected = expected_per_s(wait, gates, self._lanes, handler_s)
        slow = is_slow(meter.rate_over(SLOW_S), expected)
        return SlowJob(job.id, job.name, wait) if slow else None


class Health(msgspec.Struct, frozen=True):
    store: bool = False
    workers: int = 0
    claimable: bool = False
    """True if at least one item can be claimed now."""
    moving: bool = True
    """True if nothing waits, or an item was claimed or finished within the last minute."""
    slow: tuple[SlowJob, ...] = ()
    """Jobs that have work and make almost no progress."""


class Monitor:
    """Keeps the progress of the last minute for each unfinished job."""

    PERIOD_S = 1.0
    STALL_S = 60.0
    WATCHED = 200
    """Unfinished jobs that are sampled, newest first."""

    def __init__(self, store: Store, clock: Clock, slow: SlowJobs | None = None) -> None:
        self._store = store
        self._clock = clock
        self._slow = slow
        self._meters: dict[int, Meter] = {}
        self._finished: Mapping[int, int] = {}
        self._moved_s = clock.monotonic()
        self.health = Health()
        self.heartbeat: int | None = None
        """Time of the last sign of life of a worker."""

    async def run(self, sign: Sign) -> None:
        """Sample until cancelled. A store that does not answer makes the health bad."""
        while True:
            try:
                await self.sample()
            except HeadgateError as error:
                self.health = Health()
                logger().warning("the store does not answer", error=str(error))
            sign()
            await self._clock.sleep(self.PERIOD_S)

    async def sample(self) -> None:
        reads = self._store.reads
        jobs = await reads.jobs(JobQuery(states=UNFINISHED, limit=self.WATCHED, configs=False))
        counts = {job.id: await reads.counts(job.id) for job in jobs}
        now_s = self._clock.monotonic()
        self._measure(counts, now_s)
        workers = await reads.workers()
        self.heartbeat = max((worker.beat_at for worker in workers), default=None)
        demand = await self._store.jobs.demand(None, None)
        claimable = bool(demand.contenders or demand.suspects)
        self._notice_motion(counts, now_s, claimable=claimable)
        moving = now_s - self._moved_s < self.STALL_S
        due = {each.job_id for each in (*demand.contenders, *demand.suspects)}
        slow = await self._find_slow(jobs, due)
        self.health = Health(
            store=True, workers=len(workers), claimable=claimable, moving=moving, slow=slow
        )

    async def _find_slow(self, jobs: list[Job], due: set[int]) -> tuple[SlowJob, ...]:
        if self._slow is None:
            return ()
        await self._slow.check(jobs, self._meters, due)
        return tuple(self._slow.found)

    def rate(self, job_id: int) -> float | None:
        """Items per second now; see `engine.explain`."""
        meter = self._meters.get(job_id)
        return meter.rate() if meter else None

    def total_rate(self) -> float:
        return sum(meter.rate() or 0.0 for meter in self._meters.values())

    def eta(self, job: Job, remaining: int, limit: LimitedBy) -> Band | None:
        """Return the time left as a range, or None if it is unknown."""
        meter = self._meters.get(job.id)
        if meter is None or not remaining or limit.wait is None or limit.is_untimed:
            return None
        return meter.eta(remaining, limit.held)

    def _measure(self, counts: Mapping[int, Counts], now_s: float) -> None:
        meters = {job_id: self._meters.get(job_id) or Meter() for job_id in counts}
        for job_id, meter in meters.items():
            meter.add(now_s, counts[job_id].finished)
        self._meters = meters

    def _notice_motion(
        self, counts: Mapping[int, Counts], now_s: float, *, claimable: bool
    ) -> None:
        finished = {job_id: each.finished for job_id, each in counts.items()}
        at_work = any(each.processing for each in counts.values())
        if at_work or not claimable or finished != self._finished:
            self._moved_s = now_s
        self._finished = finished
