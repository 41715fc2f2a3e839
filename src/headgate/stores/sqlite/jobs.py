"""Jobs, workers and duties on SQLite."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from headgate.core.errors import IllegalMove, UnknownJob
from headgate.core.fair_turns import Contender
from headgate.core.identity import rebound
from headgate.core.job import ARRIVAL, Binding, Job, NewJob
from headgate.core.status import JobMove, JobState, job_after
from headgate.core.words import counted
from headgate.core.worker import WorkerInfo
from headgate.ports.jobs import SessionReport, WaitingSource, WorkDemand
from headgate.stores.sqlite.connection import SqliteDatabase, Transaction
from headgate.stores.sqlite.create import create
from headgate.stores.sqlite.items import return_leases
from headgate.stores.sqlite.records import (
    add_counts,
    add_event,
    as_json,
    as_json_or_none,
    job_from,
)

MICROSECONDS = 1_000_000


class SqliteJobs:
    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def create_job(self, new: NewJob) -> Job:
        return await self._database.write(lambda tx: create(tx, new))

    async def move_job(
        self, job_id: int, move: JobMove, reason: str = "", resume_in_s: float | None = None
    ) -> Job:
        resume_us = None if resume_in_s is None else int(resume_in_s * 1_000_000)
        return await self._database.write(lambda tx: _move(tx, job_id, move, reason, resume_us))

    async def reopen_ingest(self, job_id: int, fingerprint: str) -> Job:
        def work(tx: Transaction) -> Job:
            before = _job(tx, job_id)
            row = tx.record("reopen_ingest", job_id=job_id, fingerprint=fingerprint)
            if row is None:
                raise IllegalMove(f"job {job_id} is {before.state} and cannot be ingested again")
            add_event(
                tx, "job_state", f"{before.state} → {row['state']}: source read again", job_id
            )
            return job_from(row)

        return await self._database.write(work)

    async def complete_ingest(self, job_id: int, columns: tuple[str, ...]) -> Job:
        def work(tx: Transaction) -> Job:
            before = _job(tx, job_id)
            if before.ingest_complete:
                return before
            row = tx.records("complete_ingest", job_id=job_id, columns=as_json(columns))[0]
            add_event(tx, "job_state", f"{before.state} → {row['state']}: source read", job_id)
            return job_from(row)

        return await self._database.write(work)

    async def similar_jobs(self, owner: str, fingerprint: str, ending: str) -> list[Job]:
        values = {"owner": owner, "fingerprint": fingerprint, "ending": ending}
        rows = await self._database.read(lambda tx: tx.records("similar_jobs", **values))
        return [job_from(row) for row in rows]

    async def rebind_job(self, job_id: int, binding: Binding) -> Job:
        def work(tx: Transaction) -> Job:
            before = _job(tx, job_id)
            add_event(tx, "job_rebound", rebound(before, binding), job_id)
            row = tx.records(
                "rebind_job",
                job_id=job_id,
                handler=binding.handler,
                source=binding.source,
                config=as_json(binding.config),
                options=as_json_or_none(binding.options),
            )[0]
            return job_from(row)

        return await self._database.write(work)

    async def rebind_items(self, job_id: int, after_id: int = 0, limit: int = 5_000) -> int:
        values = {"job_id": job_id, "after_id": after_id, "limit": limit}
        rows = await self._database.write(lambda tx: tx.rows("rebind_items", **values))
        return max((row[0] for row in rows), default=0)

    async def drop_unseen(self, job_id: int, limit: int = 5_000) -> int:
        def work(tx: Transaction) -> int:
            return _remove(tx, job_id, tx.rows("unseen_bad_rows", job_id=job_id, limit=limit))

        return await self._database.write(work)

    async def close_queue(self, job_id: int) -> Job:
        def work(tx: Transaction) -> Job:
            _job(tx, job_id)
            add_event(tx, "job_closed", "takes no more items", job_id)
            return job_from(tx.records("close_queue", job_id=job_id)[0])

        return await self._database.write(work)

    async def set_priority(self, job_id: int, priority: int) -> Job:
        def work(tx: Transaction) -> Job:
            before = _job(tx, job_id)
            add_event(tx, "job_priority", f"{before.priority} → {priority}", job_id)
            return job_from(tx.records("set_priority", job_id=job_id, priority=priority)[0])

        return await self._database.write(work)

    async def finish_job(self, job_id: int) -> bool:
        return await self._database.write(lambda tx: _finish(tx, job_id) is not None)

    async def discard_items(self, job_id: int, limit: int = 5_000) -> int:
        return await self._database.write(lambda tx: _discard(tx, job_id, limit))

    async def delete_job(self, job_id: int, limit: int = 5_000) -> int:
        return await self._database.write(lambda tx: _delete(tx, job_id, limit))

    async def demand(
        self, jobs: Sequence[int] | None, handlers: Sequence[str] | None
    ) -> WorkDemand:
        values = {
            "jobs": None if jobs is None else as_json(jobs),
            "handlers": None if handlers is None else as_json(handlers),
        }
        return await self._database.read(lambda tx: demand_from(tx, tx.rows("demand", **values)))

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
        await self._database.write(lambda tx: tx.change("register", **values))

    async def beat(self, workers: Mapping[str, int], ttl_s: float) -> list[str]:
        parameter = as_json(workers)
        alive = await self._database.write(
            lambda tx: {row[0] for row in tx.rows("beat", workers=parameter, ttl_s=ttl_s)},
        )
        return [worker for worker in workers if worker not in alive]

    async def ask_drain(self, worker: str) -> bool:
        def work(tx: Transaction) -> bool:
            asked = tx.row("ask_drain", worker=worker) is not None
            if asked:
                add_event(tx, "worker_drain", f"{worker} takes nothing more")
            return asked

        return await self._database.write(work)

    async def draining(self, workers: Sequence[str]) -> list[str]:
        parameter = as_json(workers)
        rows = await self._database.read(lambda tx: tx.rows("draining", workers=parameter))
        return [row[0] for row in rows]

    async def retire(self, worker: str, reason: str) -> int:
        def work(tx: Transaction) -> int:
            tx.rows("stop_worker", worker=worker, reason=reason)
            returned = return_leases(tx, worker)
            if returned:
                add_event(
                    tx, "rescued", f"{counted(returned, 'item')} of {worker} returned: {reason}"
                )
            return returned

        return await self._database.write(work)

    async def elect(self, duty: str, holder: str, ttl_s: float) -> bool:
        def work(tx: Transaction) -> bool:
            until = tx.now + int(ttl_s * MICROSECONDS)
            return tx.row("elect", duty=duty, holder=holder, until=until) is not None

        return await self._database.write(work)

    async def record_session(self, session: SessionReport) -> None:
        rate = session.settled / session.drain_s if session.drain_s > 0 else None
        values = {
            "id": session.id,
            "job_id": session.job_id,
            "command": session.command,
            "worker_count": session.worker_count,
            "settled": session.settled,
            "items_per_s": rate,
            "ended": session.ended,
        }
        await self._database.write(lambda tx: tx.change("record_session", **values))

    async def record_event(self, kind: str, message: str, job_id: int | None = None) -> None:
        await self._database.write(lambda tx: add_event(tx, kind, message, job_id))

    async def retain(self, older_than_us: int, limit: int = 5_000) -> int:
        def work(tx: Transaction) -> int:
            before = tx.now - older_than_us
            events = tx.change("retain_events", before=before, limit=limit)
            tx.change("retain_sessions", before=before)
            tx.change("retain_workers", before=before)
            tx.change("retain_made_once", before=before, kept=ARRIVAL)
            tx.change("retain_tokens", before=before)
            return events

        return await self._database.write(work)


def _job(tx: Transaction, job_id: int) -> Job:
    row = tx.record("job", job_id=job_id)
    if row is None:
        raise UnknownJob(f"job {job_id} does not exist")
    return job_from(row)


def _move(tx: Transaction, job_id: int, move: JobMove, reason: str, resume_us: int | None) -> Job:
    before = _job(tx, job_id)
    target = job_after(move, before.state)
    if move is JobMove.FINISH:
        return _require_finished(tx, job_id)
    row = tx.records(
        "move_job",
        job_id=job_id,
        source=before.state,
        target=target,
        reason=reason or None,
        resume_us=resume_us,
    )[0]
    because = f": {reason}" if reason else ""
    add_event(tx, "job_state", f"{before.state} → {target}{because}", job_id)
    return job_from(row)


def _finish(tx: Transaction, job_id: int) -> Job | None:
    before = tx.record("job", job_id=job_id)
    row = tx.record("finish_job", job_id=job_id)
    if before is None or row is None:
        return None
    add_event(tx, "job_state", f"{before['state']} → DONE: no open item is left", job_id)
    return job_from(row)


def _require_finished(tx: Transaction, job_id: int) -> Job:
    job = _finish(tx, job_id)
    if job is None:
        raise IllegalMove(f"job {job_id} has open items or takes more, so it is not DONE")
    return job


def _delete(tx: Transaction, job_id: int, limit: int) -> int:
    job = tx.record("job", job_id=job_id)
    if job is None:
        return 0
    if job["state"] not in {JobState.DONE, JobState.FAILED, JobState.CANCELLED}:
        raise IllegalMove(f"job {job_id} is {job['state']}: cancel it first")
    if removed := _remove_items(tx, job_id, limit):
        return removed
    add_event(tx, "job_deleted", f"{job['name'] or job['handler']} was deleted", job_id)
    for query in ("delete_counts", "delete_columns", "delete_exports", "delete_job"):
        tx.change(query, job_id=job_id)
    return 0


def _discard(tx: Transaction, job_id: int, limit: int) -> int:
    job = _job(tx, job_id)
    if job.state is not JobState.FAILED:
        raise IllegalMove(f"job {job_id} is {job.state}: only a FAILED job loses its items")
    removed = _remove_items(tx, job_id, limit)
    if removed:
        add_event(
            tx, "items_discarded", f"{counted(removed, 'item')} of the failed job removed", job_id
        )
    return removed


def _remove_items(tx: Transaction, job_id: int, limit: int) -> int:
    return _remove(tx, job_id, tx.rows("select_any", job_id=job_id, limit=limit))


def _remove(tx: Transaction, job_id: int, found: Sequence[tuple[int, str]]) -> int:
    if found:
        ids = as_json([row[0] for row in found])
        for query in ("delete_attempts", "delete_decisions", "delete_reusable", "delete_items"):
            tx.change(query, ids=ids)
        add_counts(tx, [(job_id, status, -1) for _, status in found])
    return len(found)


def demand_from(tx: Transaction, rows: Sequence[Any]) -> WorkDemand:
    """Read the rows of the query `demand` or `demand_for`."""
    contenders, suspects, due, finishable = [], [], [], []
    open_items = False
    for job_id, owner, priority, claimable, suspect, is_open, *next_dues, complete in rows:
        contender = Contender(job_id, owner, priority)
        if claimable:
            contenders.append(contender)
        if suspect:
            suspects.append(contender)
        if complete and not is_open:
            finishable.append(job_id)
        open_items = open_items or bool(is_open)
        due += [each for each in next_dues if each is not None]
    next_due_in_s = max(min(due) - tx.now, 0) / MICROSECONDS if due else None
    return WorkDemand(contenders, suspects, open_items, next_due_in_s, finishable)
