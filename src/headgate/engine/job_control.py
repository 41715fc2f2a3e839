"""Operator commands on jobs and dead letters: durable, and in short steps."""

import contextlib
from collections.abc import Awaitable, Callable, Sequence

import msgspec
from msgspec.structs import replace

from headgate.core.errors import IllegalMove
from headgate.core.fault import FaultClass
from headgate.core.job import Job
from headgate.core.status import UNFINISHED, ItemStatus, JobMove, JobState
from headgate.ports.items import RequeueRequest, SweptItems
from headgate.ports.reads import EventQuery, JobQuery
from headgate.ports.store import Store

Step = Callable[[RequeueRequest], Awaitable[SweptItems]]

OPERATOR = "an operator"
ASKED = "asked for by"
DELETION = "to be deleted"
CANCELLATION = f"→ {JobState.CANCELLED}"
PAGE = 1_000
"""Events per read."""


def is_halted(job: Job) -> bool:
    """True if the job is paused because of a fault, and not by a user."""
    resting = job.state is JobState.PAUSED and job.resume_at is None
    return resting and not (job.pause_reason or "").startswith(ASKED)


class JobControl:
    """Operator commands over one store. Each wakes every worker through the notifier."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def pause(self, job_id: int, by: str = OPERATOR) -> Job:
        """Stop new claims; workers finish or hand back the running items."""
        return await self._move(job_id, JobMove.PAUSE, by)

    async def resume(self, job_id: int, by: str = OPERATOR) -> Job:
        """Go on where the job was paused: reading the source, or working."""
        job = await self._store.reads.job(job_id)
        reading = not (job.ingest_complete or job.open)
        return await self._move(job_id, JobMove.RESUME_INGEST if reading else JobMove.RESUME, by)

    async def cancel(self, job_id: int, by: str = OPERATOR, why: str = "") -> Job:
        """End a job: its open items become CANCELLED, and late results are refused."""
        job = await self._store.reads.job(job_id)
        # A cancellation that was interrupted continues.
        if job.state is JobState.CANCELLED and await self.cancel_items(job_id):
            return job
        job = await self._move(job_id, JobMove.CANCEL, by, why)
        await self.cancel_items(job_id)
        return job

    async def cancel_items(self, job_id: int) -> int:
        """Finish a cancellation, also an interrupted one; returns the number of items moved."""
        moved = 0
        while step := await self._store.items.cancel_items(job_id):
            moved += step
        return moved

    async def close(self, job_id: int, by: str = OPERATOR) -> Job:
        """Let an open queue become DONE once it is empty."""
        job = await self._store.jobs.close_queue(job_id)
        await self._note(job_id, "closed", by)
        await self._store.jobs.finish_job(job_id)
        await self._store.notifier.ring()
        return job

    async def set_priority(self, job_id: int, priority: int, by: str = OPERATOR) -> Job:
        job = await self._store.jobs.set_priority(job_id, priority)
        await self._note(job_id, f"priority {priority}", by)
        await self._store.notifier.ring()
        return job

    async def reprocess(self, request: RequeueRequest, by: str = OPERATOR) -> int:
        """Make finished items pending again, step by step; returns how many.

        Rows that were bad when they were read stay as they are, unless they are selected by class,
        kind or number: another attempt cannot correct an error in the file.
        """
        # Recorded before the first step: if a later step fails, it is still known who started it.
        statuses = ", ".join(sorted(request.statuses))
        await self._note(request.job_id, f"items in {statuses} set back to PENDING", by)
        moved = await self._sweep(self._store.items.requeue, request)
        await self._store.notifier.ring()
        return moved

    async def would_reprocess(self, request: RequeueRequest) -> int:
        return await self._sweep(self._store.items.would_requeue, request)

    async def remove(self, job_id: int, by: str = OPERATOR) -> None:
        """Delete a job with everything that belongs to it; cancels it first if it is unfinished."""
        job = await self._store.reads.job(job_id)
        if job.state in UNFINISHED:
            # A job that finishes at this moment needs no cancellation.
            with contextlib.suppress(IllegalMove):
                await self.cancel(job_id, by, DELETION)
        await self._note(job_id, DELETION, by)
        while await self._store.jobs.delete_job(job_id):
            pass

    async def cancelled_to_delete(self, job_id: int) -> bool:
        """True if the last cancellation was part of a deletion, which may still be going on."""
        after_id = 0
        while True:
            query = EventQuery(job_id, after_id=after_id, newest_first=True, limit=PAGE)
            events = await self._store.reads.events(query)
            for event in events:
                if event.kind == "job_state" and CANCELLATION in event.message:
                    return DELETION in event.message
            if len(events) < PAGE:
                return False
            after_id = events[-1].id

    async def _sweep(self, step: Step, request: RequeueRequest) -> int:
        if (request.error_class, request.signature, request.ids) == (None, None, None):
            request = replace(request, but_class=FaultClass.BAD_ROW)
        moved = 0
        after_id: int | None = request.after_id
        while after_id is not None:
            swept = await step(replace(request, after_id=after_id))
            moved += swept.moved
            after_id = swept.next_after_id
        return moved

    async def _move(self, job_id: int, move: JobMove, by: str, why: str = "") -> Job:
        reason = f"{why}, {ASKED} {by}" if why else f"{ASKED} {by}"
        job = await self._store.jobs.move_job(job_id, move, reason)
        await self._store.notifier.ring()
        return job

    async def _note(self, job_id: int, what: str, by: str) -> None:
        await self._store.jobs.record_event("asked", f"{what}, {ASKED} {by}", job_id)


DEAD = frozenset({ItemStatus.ERROR})
REPLAY_PAGE = 500
MOST_JOBS = 2_000
"""Jobs whose dead letters are counted, the newest first."""


class ReplaySelection(msgspec.Struct, frozen=True):
    """Items to replay: by number, of one job, or all. By default dead letters."""

    ids: tuple[int, ...] | None = None
    job_id: int | None = None
    handler: str | None = None
    """Only in jobs with this handler, if neither `ids` nor `job_id` is set."""
    but_ids: tuple[int, ...] = ()
    statuses: frozenset[ItemStatus] = DEAD
    error_class: str | None = None
    changed_from: int | None = None
    changed_to: int | None = None
    """Items last changed at or after `changed_from` and before `changed_to`, UTC microseconds."""
    reset_attempts: bool = False


class ReplayCount(msgspec.Struct, frozen=True):
    count: int
    jobs: Sequence[int]


class DeadOfJob(msgspec.Struct, frozen=True):
    job_id: int
    name: str
    count: int


class DeadLetters:
    def __init__(self, store: Store, owner: str | None = None) -> None:
        self._store = store
        self._owner = owner

    async def replay(
        self, what: ReplaySelection, *, dry_run: bool, by: str = OPERATOR
    ) -> ReplayCount:
        control = JobControl(self._store)
        targets = await self._targets(what)
        count = 0
        for job_id, ids in targets:
            request = RequeueRequest(
                job_id=job_id,
                statuses=what.statuses,
                error_class=what.error_class,
                changed_from=what.changed_from,
                changed_to=what.changed_to,
                ids=ids,
                but_ids=what.but_ids,
                reset_attempts=what.reset_attempts,
            )
            if dry_run:
                count += await control.would_reprocess(request)
            else:
                count += await control.reprocess(request, by)
        return ReplayCount(count, [job_id for job_id, _ in targets])

    async def counted(
        self, handler: str | None = None, error_class: str | None = None
    ) -> tuple[list[DeadOfJob], bool]:
        """The jobs that have dead letters, newest first, and True if all jobs were counted."""
        reads = self._store.reads
        query = JobQuery(owner=self._owner, handler=handler, limit=REPLAY_PAGE, configs=False)
        found: list[DeadOfJob] = []
        for _ in range(0, MOST_JOBS, REPLAY_PAGE):
            jobs = await reads.jobs(query)
            for job in jobs:
                count = (await reads.counts(job.id)).error
                if count and error_class is not None:
                    groups = await reads.error_groups(job.id)
                    count = sum(each.count for each in groups if each.error_class == error_class)
                if count:
                    found.append(DeadOfJob(job.id, job.name, count))
            if len(jobs) < REPLAY_PAGE:
                return found, True
            query = msgspec.structs.replace(query, after_id=jobs[-1].id)
        return found, False

    async def _targets(self, what: ReplaySelection) -> list[tuple[int, tuple[int, ...] | None]]:
        """The jobs to replay in, each with its items, or None for all that match."""
        reads = self._store.reads
        if what.job_id is not None:
            job = await reads.job(what.job_id, self._owner)
            return [(job.id, None)] if what.handler in {None, job.handler} else []
        if what.ids is None:
            return [(job_id, None) for job_id in await self._jobs_with(what)]
        by_job: dict[int, list[int]] = {}
        for item_id in what.ids:
            row = (await reads.item(item_id, self._owner)).row
            by_job.setdefault(row.job_id, []).append(item_id)
        return [(job_id, tuple(ids)) for job_id, ids in by_job.items()]

    async def _jobs_with(self, what: ReplaySelection) -> list[int]:
        reads = self._store.reads
        query = JobQuery(owner=self._owner, handler=what.handler, limit=REPLAY_PAGE, configs=False)
        found: list[int] = []
        while jobs := await reads.jobs(query):
            for job in jobs:
                counts = await reads.counts(job.id)
                if any(map(counts.of, what.statuses)):
                    found.append(job.id)
            query = msgspec.structs.replace(query, after_id=jobs[-1].id)
        return found
