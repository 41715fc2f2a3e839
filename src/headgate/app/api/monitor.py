"""How the work goes: looked at once a second, for rates, estimates and health."""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from headgate.app.api.limit_cache import LimitCache
from headgate.app.loops import Sign
from headgate.app.telemetry import logger
from headgate.core.errors import HeadgateError
from headgate.core.gates.wait import Wait, WaitKind
from headgate.core.job import Counts, Job
from headgate.core.slow_job import SLOW_S, expected_per_s, is_slow
from headgate.core.status import UNFINISHED
from headgate.engine.eta import Band, Meter
from headgate.engine.limited_by import LimitedBy
from headgate.ports.clock import Clock
from headgate.ports.reads import JobQuery
from headgate.ports.store import Store


class SlowJob(msgspec.Struct, frozen=True):
    """A job that is far slower than it could be, and why."""

    job_id: int
    name: str
    wait: Wait


class SlowJobs:
    """Looks at a few jobs in each round, so that many jobs cost no more than few."""

    A_ROUND = 20
    AGAIN_S = 5.0
    """How often the same job is looked at. In seconds."""

    def __init__(self, store: Store, limit_cache: LimitCache, clock: Clock, lanes: int) -> None:
        self._store = store
        self._limit_cache = limit_cache
        self._clock = clock
        self._lanes = lanes
        """Rows that workers work on at once."""
        self._due_since: dict[int, float] = {}
        self._looked_s: dict[int, float] = {}
        self._found: dict[int, SlowJob] = {}

    @property
    def found(self) -> Sequence[SlowJob]:
        """Those that were slow at the last look, newest first."""
        return [self._found[job_id] for job_id in sorted(self._found, reverse=True)]

    async def look(
        self, jobs: Sequence[Job], meters: dict[int, Meter], due: Collection[int]
    ) -> None:
        """Look at jobs that have work to do; `due` are those with rows that could be claimed."""
        now_s = self._clock.monotonic()
        known = {job.id for job in jobs}
        self._due_since = {key: at for key, at in self._due_since.items() if key in known}
        self._looked_s = {key: at for key, at in self._looked_s.items() if key in known}
        self._found = {key: each for key, each in self._found.items() if key in known}
        waiting = [job for job in jobs if now_s - self._last(job) >= self.AGAIN_S]
        for job in sorted(waiting, key=self._last)[: self.A_ROUND]:
            self._looked_s[job.id] = now_s
            slow = await self._judged(job, meters[job.id], now_s, is_due=job.id in due)
            self._found.pop(job.id, None)
            if slow is not None:
                self._found[job.id] = slow

    def _last(self, job: Job) -> float:
        return self._looked_s.get(job.id, float("-inf"))

    async def _judged(
        self, job: Job, meter: Meter, now_s: float, *, is_due: bool
    ) -> SlowJob | None:
        limit = await self._limit_cache.limit_of(job)
        wait = limit.wait
        # Rows that a silent host sent back are due a moment later, again and again.
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
    """Whether items really move."""

    store: bool = False
    workers: int = 0
    claimable: bool = False
    """There are items that could be claimed now."""
    moving: bool = True
    """Nothing waits, or something was claimed or finished within the last minute."""
    slow: tuple[SlowJob, ...] = ()
    """Jobs that have work to do and hardly do any."""


class Monitor:
    """Keeps a minute of progress for each unfinished job."""

    PERIOD_S = 1.0
    STALL_S = 60.0
    WATCHED = 200
    """Unfinished jobs that are looked at, the newest."""

    def __init__(self, store: Store, clock: Clock, slow: SlowJobs | None = None) -> None:
        self._store = store
        self._clock = clock
        self._slow = slow
        self._meters: dict[int, Meter] = {}
        self._finished: Mapping[int, int] = {}
        self._moved_s = clock.monotonic()
        self.health = Health()
        self.heartbeat: int | None = None
        """When a worker last showed that it lives."""

    async def run(self, sign: Sign) -> None:
        """Look again and again; a store that is away is only bad health."""
        while True:
            try:
                await self.look()
            except HeadgateError as error:
                self.health = Health()
                logger().warning("the store does not answer", error=str(error))
            sign()
            await self._clock.sleep(self.PERIOD_S)

    async def look(self) -> None:
        """Take one reading."""
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
        await self._slow.look(jobs, self._meters, due)
        return tuple(self._slow.found)

    def rate(self, job_id: int) -> float | None:
        """Items a second now: see `engine.explain`."""
        meter = self._meters.get(job_id)
        return meter.rate() if meter else None

    def total_rate(self) -> float:
        """Items a second now, of all jobs together."""
        return sum(meter.rate() or 0.0 for meter in self._meters.values())

    def eta(self, job: Job, remaining: int, limit: LimitedBy) -> Band | None:
        """How much longer, as a band; None where that is not known."""
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
