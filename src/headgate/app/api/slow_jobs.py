"""Jobs that have work to do and hardly do any, with the cause of each."""

from collections.abc import Collection, Sequence

import msgspec

from headgate.app.api.gauges import Gauges
from headgate.core.gates.wait import Wait, WaitKind
from headgate.core.job import Job
from headgate.core.slow_job import SLOW_S, expected_per_s, is_slow
from headgate.engine.eta import Meter
from headgate.ports.clock import Clock
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

    def __init__(self, store: Store, gauges: Gauges, clock: Clock, lanes: int) -> None:
        self._store = store
        self._gauges = gauges
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
        limit = await self._gauges.limit_of(job)
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
