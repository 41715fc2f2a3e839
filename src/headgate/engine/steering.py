"""What people do to jobs: all of it durable, and in short steps."""

from msgspec.structs import replace

from headgate.core.fault import FaultClass
from headgate.core.job import Job
from headgate.core.status import UNFINISHED, ItemStatus, JobMove, JobState
from headgate.ports.items import RequeueRequest
from headgate.ports.store import Store


class Steering:
    """Operator verbs over one store; after each, the bell makes every worker look."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def pause(self, job_id: int) -> Job:
        """Stop new claims; what runs is handed back or finished by its worker."""
        return await self._move(job_id, JobMove.PAUSE)

    async def resume(self, job_id: int) -> Job:
        """Go on where the pause came: reading the source, or working."""
        job = await self._store.reads.job(job_id)
        reading = not (job.ingest_complete or job.open)
        return await self._move(job_id, JobMove.RESUME_INGEST if reading else JobMove.RESUME)

    async def cancel(self, job_id: int) -> Job:
        """End a job: its open items become CANCELLED, and late results are refused."""
        job = await self._store.reads.job(job_id)
        # A cancellation that was cut short is simply carried on.
        if job.state is JobState.CANCELLED and await self.cancel_items(job_id):
            return job
        job = await self._move(job_id, JobMove.CANCEL)
        await self.cancel_items(job_id)
        return job

    async def cancel_items(self, job_id: int) -> int:
        """Finish a cancellation, also one that was interrupted; return the items moved."""
        moved = 0
        while step := await self._store.items.cancel_items(job_id):
            moved += step
        return moved

    async def close(self, job_id: int) -> Job:
        """Let an open queue become DONE once it is empty."""
        job = await self._store.jobs.close_queue(job_id)
        await self._store.jobs.finish_job(job_id)
        await self._store.notifier.ring()
        return job

    async def reprocess(self, request: RequeueRequest) -> int:
        """Bring finished items back, step by step; return how many.

        Rows that were bad when they were read stay as they are, unless they are asked for by
        class or number: another attempt cannot mend what the file got wrong.
        """
        moved = 0
        for part in await self._without_bad_rows(request):
            moved += await self._requeue(part)
        await self._store.notifier.ring()
        return moved

    async def would_reprocess(self, request: RequeueRequest) -> int:
        """How many items `reprocess` would bring back."""
        parts = await self._without_bad_rows(request)
        return sum([await self._count(part) for part in parts])

    async def remove(self, job_id: int) -> None:
        """Delete a job with everything that belongs to it; cancels it first if it is unfinished."""
        job = await self._store.reads.job(job_id)
        if job.state in UNFINISHED:
            await self.cancel(job_id)
        while await self._store.jobs.delete_job(job_id):
            pass

    async def _without_bad_rows(self, request: RequeueRequest) -> list[RequeueRequest]:
        if request.error_class is not None or request.ids is not None:
            return [request]
        classes = await self._classes(request)
        if FaultClass.BAD_ROW not in classes:
            return [request]
        errors = frozenset({ItemStatus.ERROR})
        parts = [
            replace(request, statuses=errors, error_class=name)
            for name in classes
            if name != FaultClass.BAD_ROW
        ]
        others = request.statuses - errors
        return [*parts, replace(request, statuses=others)] if others else parts

    async def _classes(self, request: RequeueRequest) -> set[str]:
        if ItemStatus.ERROR not in request.statuses:
            return set()
        return {name for name, _, _ in await self._store.reads.error_classes(request.job_id)}

    async def _requeue(self, request: RequeueRequest) -> int:
        moved = 0
        after_id: int | None = request.after_id
        while after_id is not None:
            swept = await self._store.items.requeue(replace(request, after_id=after_id))
            moved += swept.moved
            after_id = swept.next_after_id
        return moved

    async def _count(self, request: RequeueRequest) -> int:
        if request.ids is not None:
            return await self._matching_ids(request)
        if request.error_class is not None:
            classes = await self._store.reads.error_classes(request.job_id)
            return sum(count for name, _, count in classes if name == request.error_class)
        counts = await self._store.reads.counts(request.job_id)
        return sum(int(getattr(counts, status.lower())) for status in request.statuses)

    async def _matching_ids(self, request: RequeueRequest) -> int:
        found = 0
        for item_id in request.ids or ():
            row = (await self._store.reads.item(item_id)).row
            found += (
                row.job_id == request.job_id
                and row.status in request.statuses
                and request.error_class in {None, row.error_class}
            )
        return found

    async def _move(self, job_id: int, move: JobMove) -> Job:
        job = await self._store.jobs.move_job(job_id, move, "asked for by an operator")
        await self._store.notifier.ring()
        return job
