"""Jobs of a store."""

from msgspec.structs import replace

from headgate.app.handler_presence import handler_wait
from headgate.app.service import SHOWN_EVENTS, JobAccount, JobStand
from headgate.core.gates.config import GateLimits
from headgate.core.job import Job
from headgate.core.retry import RetryPolicy
from headgate.core.waiting import is_at_work
from headgate.engine.gate_control import JobGates
from headgate.engine.job_control import JobControl
from headgate.engine.limited_by import limiting, read_if_there
from headgate.ports.items import RequeueRequest
from headgate.ports.reads import EventQuery, JobQuery
from headgate.ports.store import Store


class LocalJobs:
    """Implements JobVerbs."""

    def __init__(self, store: Store, limits: GateLimits, retry: RetryPolicy) -> None:
        self._store = store
        self._limits = limits
        self._retry = retry
        self._steering = JobControl(store)

    async def ls(self, after: int, limit: int) -> list[JobStand]:
        """Jobs older than `after` (0: all), newest first."""
        jobs = await self._store.reads.jobs(JobQuery(after_id=after, limit=limit, configs=False))
        return [JobStand(job, await self._store.reads.counts(job.id)) for job in jobs]

    async def get(self, job_id: int) -> JobStand:
        """One job, or UnknownJob."""
        job = await self._store.reads.job(job_id)
        return JobStand(job, await self._store.reads.counts(job_id))

    async def account(self, job_id: int) -> JobAccount:
        """One job with everything."""
        reads = self._store.reads
        stand = await self.get(job_id)
        missing = handler_wait(stand.job) if stand.counts.open else None
        newest = EventQuery(job_id, newest_first=True, limit=SHOWN_EVENTS)
        at = await self._store.situations.of(job_id)
        reading = await read_if_there(JobGates(self._store, self._limits, job_id))
        return JobAccount(
            job=stand.job,
            counts=stand.counts,
            limit=missing or limiting(stand.job, at, reading).wait,
            at_work=is_at_work(stand.job, at),
            failures=await reads.error_groups(job_id),
            events=(await reads.events(newest))[::-1],
            handler_problem=missing.why if missing else "",
        )

    async def pause(self, job_id: int) -> Job:
        """Stop new work on it."""
        return await self._steering.pause(job_id)

    async def resume(self, job_id: int) -> Job:
        """Let it go on."""
        return await self._steering.resume(job_id)

    async def cancel(self, job_id: int) -> Job:
        """End it."""
        return await self._steering.cancel(job_id)

    async def set_priority(self, job_id: int, priority: int) -> Job:
        """Change its share."""
        return await self._steering.set_priority(job_id, priority)

    async def remove(self, job_id: int) -> None:
        """Delete it with everything that belongs to it."""
        await self._steering.remove(job_id)

    async def reprocess(self, request: RequeueRequest, *, dry_run: bool) -> int:
        """Bring finished items back, or only count them."""
        await self._store.reads.job(request.job_id)
        if not request.reset_attempts and request.ids is None:
            request = replace(request, below_attempts=self._retry.max_attempts_ever)
        steering = self._steering
        return await (steering.would_reprocess if dry_run else steering.reprocess)(request)
