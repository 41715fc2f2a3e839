"""What people do to jobs: all of it durable, and in short steps."""

import contextlib
from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from headgate.core.errors import IllegalMove
from headgate.core.fault import FaultClass
from headgate.core.job import Job
from headgate.core.status import UNFINISHED, JobMove, JobState
from headgate.ports.items import RequeueRequest, SweptItems
from headgate.ports.reads import EventQuery
from headgate.ports.store import Store

Step = Callable[[RequeueRequest], Awaitable[SweptItems]]

OPERATOR = "an operator"
ASKED = "asked for by"
DELETION = "to be deleted"
CANCELLATION = f"→ {JobState.CANCELLED}"
PAGE = 1_000
"""Events that are read at once."""


def is_halted(job: Job) -> bool:
    """Whether a job rests because of a trouble, and not because somebody wanted it to."""
    resting = job.state is JobState.PAUSED and job.resume_at is None
    return resting and not (job.pause_reason or "").startswith(ASKED)


class Steering:
    """Operator verbs over one store; after each, the bell makes every worker look."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def pause(self, job_id: int, by: str = OPERATOR) -> Job:
        """Stop new claims; what runs is handed back or finished by its worker."""
        return await self._move(job_id, JobMove.PAUSE, by)

    async def resume(self, job_id: int, by: str = OPERATOR) -> Job:
        """Go on where the pause came: reading the source, or working."""
        job = await self._store.reads.job(job_id)
        reading = not (job.ingest_complete or job.open)
        return await self._move(job_id, JobMove.RESUME_INGEST if reading else JobMove.RESUME, by)

    async def cancel(self, job_id: int, by: str = OPERATOR, why: str = "") -> Job:
        """End a job: its open items become CANCELLED, and late results are refused."""
        job = await self._store.reads.job(job_id)
        # A cancellation that was cut short is simply carried on.
        if job.state is JobState.CANCELLED and await self.cancel_items(job_id):
            return job
        job = await self._move(job_id, JobMove.CANCEL, by, why)
        await self.cancel_items(job_id)
        return job

    async def cancel_items(self, job_id: int) -> int:
        """Finish a cancellation, also one that was interrupted; return the items moved."""
        moved = 0
        while step := await self._store.items.cancel_items(job_id):
            moved += step
        return moved

    async def close(self, job_id: int, by: str = OPERATOR) -> Job:
        """Let an open queue become DONE once it is empty."""
        job = await self._store.jobs.close_queue(job_id)
        await self._told(job_id, "closed", by)
        await self._store.jobs.finish_job(job_id)
        await self._store.notifier.ring()
        return job

    async def set_priority(self, job_id: int, priority: int, by: str = OPERATOR) -> Job:
        """Change a job's share among its owner's jobs."""
        job = await self._store.jobs.set_priority(job_id, priority)
        await self._told(job_id, f"priority {priority}", by)
        await self._store.notifier.ring()
        return job

    async def reprocess(self, request: RequeueRequest, by: str = OPERATOR) -> int:
        """Bring finished items back, step by step; return how many.

        Rows that were bad when they were read stay as they are, unless they are asked for by
        class, kind or number: another attempt cannot mend what the file got wrong.
        """
        # Before the first step: whatever becomes of the others, it is known who wanted it.
        await self._told(request.job_id, f"items in {', '.join(sorted(request.statuses))} back", by)
        moved = await self._sweep(self._store.items.requeue, request)
        await self._store.notifier.ring()
        return moved

    async def would_reprocess(self, request: RequeueRequest) -> int:
        """How many items `reprocess` would bring back."""
        return await self._sweep(self._store.items.would_requeue, request)

    async def remove(self, job_id: int, by: str = OPERATOR) -> None:
        """Delete a job with everything that belongs to it; cancels it first if it is unfinished."""
        job = await self._store.reads.job(job_id)
        if job.state in UNFINISHED:
            # A job that finishes at this moment needs no cancellation.
            with contextlib.suppress(IllegalMove):
                await self.cancel(job_id, by, DELETION)
        await self._told(job_id, DELETION, by)
        while await self._store.jobs.delete_job(job_id):
            pass

    async def cancelled_to_delete(self, job_id: int) -> bool:
        """Whether a job was cancelled last because it is deleted, which may take longer."""
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

    async def _told(self, job_id: int, what: str, by: str) -> None:
        await self._store.jobs.record_event("asked", f"{what}, {ASKED} {by}", job_id)
