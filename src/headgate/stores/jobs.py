"""Jobs, workers and duties."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from headgate.core.errors import IllegalMove, UnknownJob
from headgate.core.fair_turns import Contender
from headgate.core.identity import binding_changes
from headgate.core.job import ARRIVAL, Binding, Job, NewJob
from headgate.core.status import JOB_TRANSITIONS, UNFINISHED, JobMove, JobState, job_after
from headgate.core.words import counted
from headgate.core.worker import WorkerInfo
from headgate.ports.jobs import SessionReport, WaitingSource, WorkDemand
from headgate.stores.closing import add_overdue_closings
from headgate.stores.create import create
from headgate.stores.item_changes import return_leases
from headgate.stores.rows import MICROSECONDS, as_json, as_json_or_none, in_us, job_from
from headgate.stores.transaction import SqlDatabase, Transaction

OF_A_JOB = (
    "delete_counts",
    "delete_columns",
    "delete_exports",
    "delete_checkpoints",  # of a pass that is over, the complete ones stay with the mirror
    "delete_job",
)


class SqlJobs:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def create_job(self, new: NewJob) -> Job:
        # Not repeated without a key: a job that was committed without our knowledge would be made
        # twice.
        repeatable = new.once is not None or new.newest is not None
        return await self._database.write(lambda tx: create(tx, new), repeatable=repeatable)

    async def move_job(
        self, job_id: int, move: JobMove, reason: str = "", resume_in_s: float | None = None
    ) -> Job:
        resume_us = in_us(resume_in_s)
        return await self._database.write(lambda tx: _move(tx, job_id, move, reason, resume_us))

    async def reopen_ingest(self, job_id: int, fingerprint: str) -> Job:
        async def work(tx: Transaction) -> Job:
            before = await _locked(tx, job_id)
            row = await tx.record("reopen_ingest", job_id=job_id, fingerprint=fingerprint)
            if row is None:
                raise IllegalMove(f"job {job_id} is {before.state} and cannot be ingested again")
            message = f"{before.state} → {row['state']}: source read again"
            await tx.add_event("job_state", message, job_id)
            return job_from(row)

        return await self._database.write(work)

    async def complete_ingest(self, job_id: int, columns: tuple[str, ...]) -> Job:
        async def work(tx: Transaction) -> Job:
            before = await _locked(tx, job_id)
            if before.ingest_complete:
                return before
            [row] = await tx.records("complete_ingest", job_id=job_id, columns=as_json(columns))
            message = f"{before.state} → {row['state']}: source read"
            await tx.add_event("job_state", message, job_id)
            return job_from(row)

        return await self._database.write(work)

    async def similar_jobs(self, owner: str, fingerprint: str, ending: str) -> list[Job]:
        values = {"owner": owner, "fingerprint": fingerprint, "ending": ending}
        rows = await self._database.read(lambda tx: tx.records("similar_jobs", **values))
        return [job_from(row) for row in rows]

    async def rebind_job(self, job_id: int, binding: Binding) -> Job:
        async def work(tx: Transaction) -> Job:
            before = await _locked(tx, job_id)
            await tx.add_event("job_rebound", binding_changes(before, binding), job_id)
            [row] = await tx.records(
                "rebind_job",
                job_id=job_id,
                handler=binding.handler,
                source=binding.source,
                config=as_json(binding.config),
                options=as_json_or_none(binding.options),
            )
            return job_from(row)

        return await self._database.write(work)

    async def rebind_items(self, job_id: int, after_id: int = 0, limit: int = 5_000) -> int:
        values = {"job_id": job_id, "after_id": after_id, "limit": limit}
        rows = await self._database.write(lambda tx: tx.rows("rebind_items", **values))
        return max((row[0] for row in rows), default=0)

    async def drop_unseen(self, job_id: int, limit: int = 5_000) -> int:
        async def work(tx: Transaction) -> int:
            await _locked(tx, job_id)
            return await _remove(
                tx, job_id, await tx.rows("unseen_bad_rows", job_id=job_id, limit=limit)
            )

        return await self._database.write(work)

    async def close_queue(self, job_id: int) -> Job:
        async def work(tx: Transaction) -> Job:
            await _locked(tx, job_id)
            await tx.add_event("job_closed", "takes no more items", job_id)
            [row] = await tx.records("close_queue", job_id=job_id)
            return job_from(row)

        return await self._database.write(work)

    async def set_priority(self, job_id: int, priority: int) -> Job:
        async def work(tx: Transaction) -> Job:
            before = await _locked(tx, job_id)
            await tx.add_event("job_priority", f"{before.priority} → {priority}", job_id)
            [row] = await tx.records("set_priority", job_id=job_id, priority=priority)
            return job_from(row)

        return await self._database.write(work)

    async def finish_job(self, job_id: int) -> bool:
        async def work(tx: Transaction) -> bool:
            row = await tx.locked("job", job_id=job_id)
            return row is not None and await _finish(tx, job_from(row)) is not None

        return await self._database.write(work)

    async def discard_items(self, job_id: int, limit: int = 5_000) -> int:
        return await self._database.write(lambda tx: _discard(tx, job_id, limit))

    async def delete_job(self, job_id: int, limit: int = 5_000) -> int:
        return await self._database.write(lambda tx: _delete(tx, job_id, limit))

    async def demand(
        self, jobs: Sequence[int] | None, handlers: Sequence[str] | None
    ) -> WorkDemand:
        values = {
            "jobs": None if jobs is None else list(jobs),
            "handlers": None if handlers is None else list(handlers),
        }
        return demand_from(await self._database.read(lambda tx: tx.rows("demand", **values)))

    async def sources_to_read(self, per_user: int) -> list[WaitingSource]:
        rows = await self._database.read(lambda tx: tx.rows("sources_to_read", per_user=per_user))
        return [WaitingSource(*row) for row in rows]

    async def rested(self) -> list[int]:
        rows = await self._database.read(lambda tx: tx.rows("rested"))
        return [row[0] for row in rows]

    async def half_cancelled(self) -> list[int]:
        rows = await self._database.read(lambda tx: tx.rows("half_cancelled"))
        return [row[0] for row in rows]

    async def register(self, worker: WorkerInfo) -> None:
        values = msgspec.structs.asdict(worker) | {"jobs": as_json(worker.jobs)}
        await self._database.write_one(lambda tx: tx.change("register", **values))

    async def beat(self, workers: Mapping[str, int], ttl_s: float) -> list[str]:
        values = {"workers": list(workers), "claims": list(workers.values()), "ttl_s": ttl_s}
        rows = await self._database.write_one(lambda tx: tx.rows("beat", **values))
        alive = {row[0] for row in rows}
        return [worker for worker in workers if worker not in alive]

    async def ask_drain(self, worker: str) -> bool:
        async def work(tx: Transaction) -> bool:
            asked = bool(await tx.rows("ask_drain", worker=worker))
            if asked:
                await tx.add_event("worker_drain", f"{worker} takes nothing more")
            return asked

        return await self._database.write(work)

    async def draining(self, workers: Sequence[str]) -> list[str]:
        named = list(workers)
        rows = await self._database.read(lambda tx: tx.rows("draining", workers=named))
        return [row[0] for row in rows]

    async def retire(self, worker: str, reason: str) -> int:
        async def work(tx: Transaction) -> int:
            await tx.change("stop_worker", worker=worker, reason=reason)
            returned = await return_leases(tx, worker)
            if returned:
                message = f"{counted(returned, 'item')} of {worker} returned: {reason}"
                await tx.add_event("rescued", message)
            return returned

        return await self._database.write(work)

    async def elect(self, duty: str, holder: str, ttl_s: float) -> bool:
        values = {"duty": duty, "holder": holder, "ttl_us": in_us(ttl_s)}
        return bool(await self._database.write_one(lambda tx: tx.rows("elect", **values)))

    async def record_session(self, session: SessionReport) -> None:
        values = {
            "id": session.id,
            "job_id": session.job_id,
            "command": session.command,
            "worker_count": session.worker_count,
            "settled": session.settled,
            "items_per_s": session.settled / session.drain_s if session.drain_s > 0 else None,
            "ended": session.ended,
        }
        await self._database.write_one(lambda tx: tx.change("record_session", **values))

    async def record_event(self, kind: str, message: str, job_id: int | None = None) -> None:
        await self._database.write_one(lambda tx: tx.add_event(kind, message, job_id))

    async def retain(self, older_than_us: int, limit: int = 5_000) -> int:
        old = {"older_than_us": older_than_us}

        async def work(tx: Transaction) -> int:
            events = await tx.change("retain_events", limit=limit, **old)
            changes = await tx.change("retain_changes", limit=limit, **old)
            await tx.change("retain_sessions", **old)
            await tx.change("retain_workers", **old)
            await tx.change("retain_made_once", kept=ARRIVAL, **old)
            await tx.change("retain_tokens", **old)
            return events + changes

        return await self._database.write(work)


async def _locked(tx: Transaction, job_id: int) -> Job:
    row = await tx.locked("job", job_id=job_id)
    if row is None:
        raise UnknownJob(f"job {job_id} does not exist")
    return job_from(row)


async def _move(
    tx: Transaction, job_id: int, move: JobMove, reason: str, resume_us: int | None
) -> Job:
    before = await _locked(tx, job_id)
    if tx.again and before.state is JOB_TRANSITIONS[move].target:
        return before
    target = job_after(move, before.state)
    if move is JobMove.FINISH:
        return await _require_finished(tx, before)
    [row] = await tx.records(
        "move_job",
        job_id=job_id,
        source=before.state,
        target=target,
        reason=reason or None,
        resume_us=resume_us,
    )
    because = f": {reason}" if reason else ""
    await tx.add_event("job_state", f"{before.state} → {target}{because}", job_id)
    return job_from(row)


async def _finish(tx: Transaction, before: Job) -> Job | None:
    if before.mirror_id is not None:
        await tx.lock("mirrors", ids=[before.mirror_id])
        await add_overdue_closings(tx, before.id)
    row = await tx.record("finish_job", job_id=before.id)
    if row is None:
        return None
    await tx.add_event("job_state", f"{before.state} → DONE: no open item is left", before.id)
    return job_from(row)


async def _require_finished(tx: Transaction, before: Job) -> Job:
    job = await _finish(tx, before)
    if job is None:
        raise IllegalMove(f"job {before.id} has open items or takes more, so it is not DONE")
    return job


async def _delete(tx: Transaction, job_id: int, limit: int) -> int:
    row = await tx.locked("job", job_id=job_id)
    if row is None:
        return 0
    job = job_from(row)
    if job.state in UNFINISHED:
        raise IllegalMove(f"job {job_id} is {job.state}: cancel it first")
    if removed := await _remove_items(tx, job_id, limit):
        return removed
    await tx.add_event("job_deleted", f"{job.name or job.handler} was deleted", job_id)
    for query in OF_A_JOB:
        await tx.change(query, job_id=job_id)
    return 0


async def _discard(tx: Transaction, job_id: int, limit: int) -> int:
    job = await _locked(tx, job_id)
    if job.state is not JobState.FAILED:
        raise IllegalMove(f"job {job_id} is {job.state}: only a FAILED job loses its items")
    removed = await _remove_items(tx, job_id, limit)
    if removed:
        message = f"{counted(removed, 'item')} of the failed job removed"
        await tx.add_event("items_discarded", message, job_id)
    return removed


async def _remove_items(tx: Transaction, job_id: int, limit: int) -> int:
    return await _remove(tx, job_id, await tx.rows("select_any", job_id=job_id, limit=limit))


async def _remove(tx: Transaction, job_id: int, found: Sequence[tuple[int, str]]) -> int:
    if found:
        ids = [item_id for item_id, _ in found]
        for query in ("delete_attempts", "delete_decisions", "delete_reusable", "delete_items"):
            await tx.change(query, job_id=job_id, ids=ids)
        await tx.add_counts((job_id, status, -1) for _, status in found)
    return len(found)


def demand_from(rows: Sequence[Any]) -> WorkDemand:
    """Read the rows of the query `demand` or `demand_for`."""
    contenders, suspects, waits, finishable = [], [], [], []
    open_items = False
    for job_id, owner, priority, claimable, suspect, is_open, *due_in_us, complete in rows:
        contender = Contender(job_id, owner, priority)
        if claimable:
            contenders.append(contender)
        if suspect:
            suspects.append(contender)
        if complete and not is_open:
            finishable.append(job_id)
        open_items = open_items or bool(is_open)
        waits += [max(each, 0) / MICROSECONDS for each in due_in_us if each is not None]
    return WorkDemand(contenders, suspects, open_items, min(waits, default=None), finishable)
