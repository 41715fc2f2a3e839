"""The read side: jobs, items, rows, situations and histories."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from headgate.core.errors import UnknownItem, UnknownJob
from headgate.core.item import decision_text
from headgate.core.job import Counts, Job
from headgate.core.signature import MOST_VARIANTS
from headgate.core.status import ItemMove
from headgate.core.waiting import COUNTED, TIMED, Deferral, Situation
from headgate.core.worker import WorkerRow
from headgate.ports.jobs import FailingRow, ItemHistory, WorkDemand
from headgate.ports.reads import (
    AttemptRow,
    CallsPage,
    CheckFinding,
    DutyRow,
    ErrorGroup,
    EventQuery,
    EventRow,
    ExportRow,
    ItemDetail,
    ItemRow,
    JobQuery,
    StoreStatus,
)
from headgate.stores.check import check
from headgate.stores.jobs import demand_from
from headgate.stores.listing import FAR, STATUSES, events_query, patterns
from headgate.stores.rows import counts_of, export_rows, histories, job_from
from headgate.stores.transaction import SqlDatabase, Transaction


class SqlReads:
    """What both databases read in the same way; each adds its own pages of items."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def job(self, job_id: int, owner: str | None = None) -> Job:
        row = await self._database.read(lambda tx: tx.record("job", job_id=job_id))
        if row is None or owner not in {None, row["owner"]}:
            raise UnknownJob(f"job {job_id} does not exist")
        return job_from(row)

    async def jobs(self, query: JobQuery) -> list[Job]:
        values = msgspec.structs.asdict(query) | patterns(query.text)
        values["states"] = sorted(query.states) if query.states else None
        rows = await self._database.read(lambda tx: tx.records("jobs", **values))
        return [job_from(row) for row in rows]

    async def find_jobs(self, owner: str, handler: str, source: str) -> list[Job]:
        values = {"owner": owner, "handler": handler, "source": source}
        rows = await self._database.read(lambda tx: tx.records("find_jobs", **values))
        return [job_from(row) for row in rows]

    async def counts(self, job_id: int) -> Counts:
        return counts_of(await self._rows("counts", job_id=job_id))

    async def item(self, item_id: int, owner: str | None = None) -> ItemDetail:
        record = await self._database.read(lambda tx: tx.record("item", item_id=item_id))
        if record is None or owner not in {None, record["owner"]}:
            raise UnknownItem(f"item {item_id} does not exist")
        row = {**record, "locked_by": record["worker"], "result": None}
        return msgspec.convert(
            {**record, "row": row, "suspect": bool(record["suspect"])}, ItemDetail
        )

    async def attempts(self, item_id: int) -> list[AttemptRow]:
        return [AttemptRow(*row) for row in await self._rows("attempts", item_id=item_id)]

    async def calls(self, job_id: int, after_id: int, limit: int) -> CallsPage:
        rows = await self._rows("calls", job_id=job_id, after_id=after_id, limit=limit)
        return CallsPage([text for _, text in rows if text], rows[-1][0] if rows else None)

    async def events(self, query: EventQuery) -> list[EventRow]:
        values = msgspec.structs.asdict(query) | {"before_id": query.after_id or FAR}
        return [EventRow(*row) for row in await self._rows(events_query(query), **values)]

    async def export_rows(self, job_id: int, after_id: int, limit: int) -> list[ExportRow]:
        rows = await self._rows("export_rows", job_id=job_id, after_id=after_id, limit=limit)
        return export_rows(rows)

    async def result_columns(self, job_id: int) -> list[str]:
        return [row[0] for row in await self._rows("result_columns", job_id=job_id)]

    async def error_groups(self, job_id: int, limit: int = 1_000) -> list[ErrorGroup]:
        rows = await self._rows("error_groups", job_id=job_id, limit=limit, variants=MOST_VARIANTS)
        return [ErrorGroup(*row) for row in rows]

    async def workers(self, *, alive_only: bool = True) -> list[WorkerRow]:
        rows = await self._rows("workers", alive_only=alive_only)
        found = [WorkerRow(*row) for row in rows]
        # SQLite has no booleans.
        return [replace(worker, draining=bool(worker.draining)) for worker in found]

    async def status(self) -> StoreStatus:
        async def work(tx: Transaction) -> tuple[Any, ...]:
            [totals] = await tx.rows("totals")
            return totals[0], await tx.rows("all_counts"), await tx.rows("duties")

        jobs, counted, duties = await self._database.read(work)
        info = await self._database.info()
        counts = counts_of(counted)
        return StoreStatus(
            **info._asdict(),
            jobs=jobs,
            items=counts.total,
            counts=counts,
            duties=[DutyRow(*row) for row in duties],
        )

    async def check(self, *, repair: bool) -> list[CheckFinding]:
        run = self._database.write if repair else self._database.read
        return await run(lambda tx: check(tx, repair=repair))

    async def _rows(self, name: str, **values: Any) -> list[Any]:
        return await self._database.read(lambda tx: tx.rows(name, **values))


class SqlRowReads:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def by_key(
        self, key: str, job_id: int | None = None, owner: str | None = None
    ) -> list[ItemRow]:
        values = {"key": key, "job_id": job_id, "owner": owner}
        rows = await self._database.read(lambda tx: tx.records("items_by_key", **values))
        return [msgspec.convert(row, ItemRow) for row in rows]

    async def decision(self, item_id: int) -> str | None:
        rows = await self._database.read(lambda tx: tx.rows("last_decision", item_id=item_id))
        return decision_text(ItemMove(rows[0][0]), *rows[0][1:]) if rows else None

    async def newest_change(self, job_id: int) -> int:
        [(at,)] = await self._database.read(lambda tx: tx.rows("newest_change", job_id=job_id))
        return int(at)

    async def failing(self, job_id: int, since_at: int, limit: int = 1_000) -> list[FailingRow]:
        values = {"job_id": job_id, "since_at": since_at, "limit": limit}
        rows = await self._database.read(lambda tx: tx.rows("failing_rows", **values))
        return [FailingRow(row[0], STATUSES[row[1]], *row[2:]) for row in rows]

    async def first(self, job_id: int, count: int) -> list[int]:
        values = {"job_id": job_id, "limit": count}
        rows = await self._database.read(lambda tx: tx.rows("first_rows", **values))
        return [row[0] for row in rows]

    async def at_places(self, job_id: int, places: Sequence[int]) -> list[int]:
        values = {"job_id": job_id, "places": list(places)}
        rows = await self._database.read(lambda tx: tx.rows("rows_at_places", **values))
        return [row[0] for row in rows]

    async def counts_of(self, job_id: int, ids: Sequence[int]) -> Counts:
        values = {"job_id": job_id, "ids": list(ids)}
        return counts_of(await self._database.read(lambda tx: tx.rows("counts_of", **values)))

    async def demand_for(self, job_id: int, ids: Sequence[int]) -> WorkDemand:
        values = {"job_id": job_id, "ids": list(ids)}
        return demand_from(await self._database.read(lambda tx: tx.rows("demand_for", **values)))


class SqlSituations:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def of(self, job_id: int) -> Situation:
        return await self._database.read(lambda tx: _situation(tx, job_id))

    async def handler_s(self, job_id: int) -> float | None:
        values = {"job_id": job_id, "limit": TIMED}
        [(ran_us,)] = await self._database.read(lambda tx: tx.rows("handler_time", **values))
        return None if ran_us is None else ran_us / 1e6


async def _situation(tx: Transaction, job_id: int) -> Situation:
    [(now, due, finished_us, workers, others_busy)] = await tx.rows("situation", job_id=job_id)
    deferrals = await tx.rows("deferrals", job_id=job_id, after=now, limit=COUNTED)
    counts = counts_of(await tx.rows("counts", job_id=job_id))
    later = [Deferral(*row) for row in deferrals]
    return Situation(now, counts, bool(due), later, finished_us, workers, bool(others_busy))


class SqlHistory:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def page(self, job_id: int, after_id: int, limit: int) -> list[ItemHistory]:
        place = {"job_id": job_id, "after_id": after_id}

        async def work(tx: Transaction) -> list[ItemHistory]:
            rows = export_rows(await tx.rows("export_rows", limit=limit, **place))
            if not rows:
                return []
            return histories(rows, await tx.rows("histories", last_id=rows[-1].id, **place))

        return await self._database.read(work)

    async def by_key(self, job_id: int, keys: Sequence[str]) -> list[ExportRow]:
        values = {"job_id": job_id, "keys": list(keys)}
        return export_rows(await self._database.read(lambda tx: tx.rows("rows_by_key", **values)))
