"""How the work goes: looked at once a second, for rates, estimates and health."""

from collections.abc import Mapping

import msgspec

from headgate.app.api.slow_jobs import SlowJob, SlowJobs
from headgate.app.loops import Sign
from headgate.app.telemetry import logger
from headgate.core.errors import HeadgateError
from headgate.core.job import Counts, Job
from headgate.core.status import UNFINISHED
from headgate.engine.eta import Band, Meter
from headgate.engine.limited_by import LimitedBy
from headgate.ports.clock import Clock
from headgate.ports.reads import JobQuery
from headgate.ports.store import Store


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


class Pulse:
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
