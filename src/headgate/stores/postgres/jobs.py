"""Jobs, workers and duties on PostgreSQL."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from headgate.core.errors import IllegalMove, UnknownJob
from headgate.core.fair_turns import Contender
from headgate.core.identity import rebound
from headgate.core.job import ARRIVAL, Binding, Job, NewJob
from headgate.core.status import JOB_TRANSITIONS, UNFINISHED, JobMove, JobState, job_after
from headgate.core.words import counted
from headgate.core.worker import WorkerInfo
from headgate.ports.jobs import SessionReport, WaitingSource, WorkDemand
from headgate.stores.postgres.connection import PostgresDatabase, PostgresSession
from headgate.stores.postgres.create import create
from headgate.stores.postgres.items import MICROSECONDS, return_leases
from headgate.stores.postgres.literals import number_array, storable, text_array
from headgate.stores.postgres.records import (
    add_counts,
    add_event,
    as_json,
    as_json_or_none,
    fitting,
    job_from,
)


class PostgresJobs:
    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def create_job(self, new: NewJob) -> Job:
        # Not repeated without a key: a job that was committed without our knowledge would be made
        # twice.
        repeatable = new.once is not None or new.newest is not None
        return await self._database.write(
            lambda session: create(session, new), repeatable=repeatable
        )

    async def move_job(
        self, job_id: int, move: JobMove, reason: str = "", resume_in_s: float | None = None
    ) -> Job:
        resume_us = None if resume_in_s is None else int(resume_in_s * 1_000_000)
        return await self._database.write(
            lambda session: _move(session, job_id, move, reason, resume_us)
        )

    async def reopen_ingest(self, job_id: int, fingerprint: str) -> Job:
        async def work(session: PostgresSession) -> Job:
            before = await _locked(session, job_id)
            row = await session.record("reopen_ingest", job_id=job_id, fingerprint=fingerprint)
            if row is None:
                raise IllegalMove(f"job {job_id} is {before.state} and cannot be ingested again")
            job = job_from(row)
            message = f"{before.state} → {job.state}: source read again"
            await add_event(session, "job_state", message, job_id)
            return job

        return await self._database.write(work)

    async def complete_ingest(self, job_id: int, columns: tuple[str, ...]) -> Job:
        async def work(session: PostgresSession) -> Job:
            before = await _locked(session, job_id)
            if before.ingest_complete:
                return before
            rows = await session.records("complete_ingest", job_id=job_id, columns=as_json(columns))
            job = job_from(rows[0])
            message = f"{before.state} → {job.state}: source read"
            await add_event(session, "job_state", message, job_id)
            return job

        return await self._database.write(work)

    async def similar_jobs(self, owner: str, fingerprint: str, ending: str) -> list[Job]:
        values = fitting(owner=owner, fingerprint=fingerprint, ending=ending)
        records = await self._database.single(
            lambda session: session.records("similar_jobs", **values)
        )
        return [job_from(record) for record in records]

    async def rebind_job(self, job_id: int, binding: Binding) -> Job:
        async def work(session: PostgresSession) -> Job:
            before = await _locked(session, job_id)
            await add_event(session, "job_rebound", rebound(before, binding), job_id)
            values = fitting(
                handler=binding.handler,
                source=binding.source,
                config=as_json(binding.config),
                options=as_json_or_none(binding.options),
            )
            return job_from((await session.records("rebind_job", job_id=job_id, **values))[0])

        return await self._database.write(work)

    async def rebind_items(self, job_id: int, after_id: int = 0, limit: int = 5_000) -> int:
        values = {"job_id": job_id, "after_id": after_id, "limit": limit}
        rows = await self._database.write(lambda session: session.rows("rebind_items", **values))
        return max((row[0] for row in rows), default=0)

    async def drop_unseen(self, job_id: int, limit: int = 5_000) -> int:
        async def work(session: PostgresSession) -> int:
            await _locked(session, job_id)
            found = await session.rows("unseen_bad_rows", job_id=job_id, limit=limit)
            return await _remove(session, job_id, found)

        return await self._database.write(work)

    async def close_queue(self, job_id: int) -> Job:
        async def work(session: PostgresSession) -> Job:
            await _locked(session, job_id)
            await add_event(session, "job_closed", "takes no more items", job_id)
            return job_from((await session.records("close_queue", job_id=job_id))[0])

        return await self._database.write(work)

    async def set_priority(self, job_id: int, priority: int) -> Job:
        async def work(session: PostgresSession) -> Job:
            before = await _locked(session, job_id)
            await add_event(session, "job_priority", f"{before.priority} → {priority}", job_id)
            rows = await session.records("set_priority", job_id=job_id, priority=priority)
            return job_from(rows[0])

        return await self._database.write(work)

    async def finish_job(self, job_id: int) -> bool:
        async def work(session: PostgresSession) -> bool:
            if await session.record("lock_job", job_id=job_id) is None:
                return False
            return await _finish(session, job_id) is not None

        return await self._database.write(work)

    async def discard_items(self, job_id: int, limit: int = 5_000) -> int:
        return await self._database.write(lambda session: _discard(session, job_id, limit))

    async def delete_job(self, job_id: int, limit: int = 5_000) -> int:
        return await self._database.write(lambda session: _delete(session, job_id, limit))

    async def demand(
        self, jobs: Sequence[int] | None, handlers: Sequence[str] | None
    ) -> WorkDemand:
        values = {
            "jobs": None if jobs is None else number_array(jobs),
            "handlers": None if handlers is None else text_array(handlers),
        }
        return demand_from(
            await self._database.single(lambda session: session.rows("demand", **values))
        )

    async def sources_to_read(self, per_user: int) -> list[WaitingSource]:
        rows = await self._database.single(
            lambda session: session.rows("sources_to_read", per_user=per_user)
        )
        return [WaitingSource(*row) for row in rows]

    async def rested(self) -> list[int]:
        return await self._ids("rested")

    async def half_cancelled(self) -> list[int]:
        return await self._ids("half_cancelled")

    async def _ids(self, query: str) -> list[int]:
        rows = await self._database.single(lambda session: session.rows(query))
        return [row[0] for row in rows]

    async def register(self, worker: WorkerInfo) -> None:
        values = msgspec.structs.asdict(worker) | {"jobs": as_json(worker.jobs)}
        await self._database.single(lambda session: session.change("register", **values))

    async def beat(self, workers: Mapping[str, int], ttl_s: float) -> list[str]:
        values = {
            "workers": text_array(list(workers)),
            "claims": number_array(list(workers.values())),
            "ttl_s": ttl_s,
        }
        rows = await self._database.single(lambda session: session.rows("beat", **values))
        alive = {row[0] for row in rows}
        return [worker for worker in workers if worker not in alive]

    async def ask_drain(self, worker: str) -> bool:
        async def work(session: PostgresSession) -> bool:
            asked = bool(await session.rows("ask_drain", worker=worker))
            if asked:
                await add_event(session, "worker_drain", f"{worker} takes nothing more")
            return asked

        return await self._database.write(work)

    async def draining(self, workers: Sequence[str]) -> list[str]:
        values = {"workers": text_array(workers)}
        rows = await self._database.single(lambda session: session.rows("draining", **values))
        return [row[0] for row in rows]

    async def retire(self, worker: str, reason: str) -> int:
        async def work(session: PostgresSession) -> int:
            await session.change("stop_worker", worker=worker, reason=storable(reason))
            returned = await return_leases(session, worker)
            if returned:
                message = f"{counted(returned, 'item')} of {worker} returned: {reason}"
                await add_event(session, "rescued", message)
            return returned

        return await self._database.write(work)

    async def elect(self, duty: str, holder: str, ttl_s: float) -> bool:
        values = {"duty": duty, "holder": holder, "ttl_us": int(ttl_s * MICROSECONDS)}
        return bool(await self._database.single(lambda session: session.rows("elect", **values)))

    async def record_session(self, session: SessionReport) -> None:
        values = {
            "id": session.id,
            "job_id": session.job_id,
            "command": storable(session.command),
            "worker_count": session.worker_count,
            "settled": session.settled,
            "items_per_s": session.settled / session.drain_s if session.drain_s > 0 else None,
            "ended": session.ended,
        }
        await self._database.single(lambda each: each.change("record_session", **values))

    async def record_event(self, kind: str, message: str, job_id: int | None = None) -> None:
        await self._database.single(lambda session: add_event(session, kind, message, job_id))

    async def retain(self, older_than_us: int, limit: int = 5_000) -> int:
        async def work(session: PostgresSession) -> int:
            events = await session.change("retain_events", older_than_us=older_than_us, limit=limit)
            await session.change("retain_sessions", older_than_us=older_than_us)
            await session.change("retain_workers", older_than_us=older_than_us)
            await session.change("retain_made_once", older_than_us=older_than_us, kept=ARRIVAL)
            await session.change("retain_tokens", older_than_us=older_than_us)
            return events

        return await self._database.write(work)


async def _locked(session: PostgresSession, job_id: int) -> Job:
    row = await session.record("lock_job", job_id=job_id)
    if row is None:
        raise UnknownJob(f"job {job_id} does not exist")
    return job_from(row)


async def _move(
    session: PostgresSession, job_id: int, move: JobMove, reason: str, resume_us: int | None
) -> Job:
    before = await _locked(session, job_id)
    if session.again and before.state is JOB_TRANSITIONS[move].target:
        return before
    target = job_after(move, before.state)
    if move is JobMove.FINISH:
        return await _require_finished(session, job_id)
    rows = await session.records(
        "move_job",
        job_id=job_id,
        source=before.state,
        target=target,
        reason=storable(reason) or None,
        resume_us=resume_us,
    )
    because = f": {reason}" if reason else ""
    await add_event(session, "job_state", f"{before.state} → {target}{because}", job_id)
    return job_from(rows[0])


async def _finish(session: PostgresSession, job_id: int) -> Job | None:
    before = await session.record("job", job_id=job_id)
    row = await session.record("finish_job", job_id=job_id)
    if before is None or row is None:
        return None
    message = f"{before['state']} → DONE: no open item is left"
    await add_event(session, "job_state", message, job_id)
    return job_from(row)


async def _require_finished(session: PostgresSession, job_id: int) -> Job:
    job = await _finish(session, job_id)
    if job is None:
        raise IllegalMove(f"job {job_id} has open items or takes more, so it is not DONE")
    return job


async def _delete(session: PostgresSession, job_id: int, limit: int) -> int:
    row = await session.record("lock_job", job_id=job_id)
    if row is None:
        return 0
    job = job_from(row)
    if job.state in UNFINISHED:
        raise IllegalMove(f"job {job_id} is {job.state}: cancel it first")
    if removed := await _remove_items(session, job_id, limit):
        return removed
    await add_event(session, "job_deleted", f"{job.name or job.handler} was deleted", job_id)
    for query in ("delete_counts", "delete_columns", "delete_exports", "delete_job"):
        await session.change(query, job_id=job_id)
    return 0


async def _discard(session: PostgresSession, job_id: int, limit: int) -> int:
    job = await _locked(session, job_id)
    if job.state is not JobState.FAILED:
        raise IllegalMove(f"job {job_id} is {job.state}: only a FAILED job loses its items")
    removed = await _remove_items(session, job_id, limit)
    if removed:
        message = f"{counted(removed, 'item')} of the failed job removed"
        await add_event(session, "items_discarded", message, job_id)
    return removed


async def _remove_items(session: PostgresSession, job_id: int, limit: int) -> int:
    return await _remove(
        session, job_id, await session.rows("select_any", job_id=job_id, limit=limit)
    )


async def _remove(session: PostgresSession, job_id: int, found: Sequence[tuple[Any, ...]]) -> int:
    if found:
        ids = number_array([each[0] for each in found])
        for query in ("delete_attempts", "delete_decisions", "delete_reusable"):
            await session.change(query, ids=ids)
        for query in ("delete_keys", "delete_items"):
            await session.change(query, job_id=job_id, ids=ids)
        await add_counts(session, [(job_id, status, -1) for _, status in found])
    return len(found)


def demand_from(rows: Sequence[tuple[Any, ...]]) -> WorkDemand:
    """Read the rows of the query `demand` or `demand_for`."""
    contenders, suspects, waits, finishable = [], [], [], []
    open_items = False
    for job_id, owner, priority, claimable, suspect, is_open, due_in_us, complete in rows:
        contender = Contender(job_id, owner, priority)
        if claimable:
            contenders.append(contender)
        if suspect:
            suspects.append(contender)
        if complete and not is_open:
            finishable.append(job_id)
        open_items = open_items or is_open
        if due_in_us is not None:
            waits.append(max(due_in_us, 0) / MICROSECONDS)
    return WorkDemand(contenders, suspects, open_items, min(waits, default=None), finishable)
