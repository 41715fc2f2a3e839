"""The read side on SQLite."""

import apsw
import msgspec

from headgate.core.errors import UnknownItem, UnknownJob
from headgate.core.job import Counts, Job
from headgate.core.signature import MOST_VARIANTS
from headgate.core.worker import WorkerRow
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
    ItemQuery,
    JobQuery,
    Page,
    StoreStatus,
)
from headgate.stores.listing import FAR, Listing, events_query, patterns
from headgate.stores.rows import counts_of, export_rows
from headgate.stores.sqlite.check import check
from headgate.stores.sqlite.connection import SqliteDatabase
from headgate.stores.sqlite.pages import page
from headgate.stores.sqlite.records import as_json, job_from


class SqliteReads:
    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def job(self, job_id: int, owner: str | None = None) -> Job:
        row = await self._database.read(lambda tx: tx.record("job", job_id=job_id))
        if row is None or owner not in {None, row["owner"]}:
            raise UnknownJob(f"job {job_id} does not exist")
        return job_from(row)

    async def jobs(self, query: JobQuery) -> list[Job]:
        values = msgspec.structs.asdict(query) | patterns(query.text)
        values["states"] = as_json(sorted(query.states)) if query.states else None
        rows = await self._database.read(lambda tx: tx.records("jobs", **values))
        return [job_from(row) for row in rows]

    async def find_jobs(self, owner: str, handler: str, source: str) -> list[Job]:
        rows = await self._database.read(
            lambda tx: tx.records("find_jobs", owner=owner, handler=handler, source=source),
        )
        return [job_from(row) for row in rows]

    async def counts(self, job_id: int) -> Counts:
        rows = await self._database.read(lambda tx: tx.rows("counts", job_id=job_id))
        return counts_of(rows)

    async def items(self, query: ItemQuery) -> Page:
        listing = Listing(query)
        return await self._database.read(lambda tx: page(tx, listing))

    async def item(self, item_id: int, owner: str | None = None) -> ItemDetail:
        row = await self._database.read(lambda tx: tx.record("item", item_id=item_id))
        if row is None or owner not in {None, row["owner"]}:
            raise UnknownItem(f"item {item_id} does not exist")
        shared = {
            "row": {**row, "locked_by": row["worker"], "result": None},
            "suspect": bool(row["suspect"]),
        }
        return msgspec.convert(row | shared, ItemDetail)

    async def attempts(self, item_id: int) -> list[AttemptRow]:
        rows = await self._database.read(lambda tx: tx.rows("attempts", item_id=item_id))
        return [AttemptRow(*row) for row in rows]

    async def calls(self, job_id: int, after_id: int, limit: int) -> CallsPage:
        rows = await self._database.read(
            lambda tx: tx.rows("calls", job_id=job_id, after_id=after_id, limit=limit)
        )
        return CallsPage([text for _, text in rows if text], rows[-1][0] if rows else None)

    async def events(self, query: EventQuery) -> list[EventRow]:
        values = msgspec.structs.asdict(query) | {"before_id": query.after_id or FAR}
        rows = await self._database.read(lambda tx: tx.rows(events_query(query), **values))
        return [EventRow(*row) for row in rows]

    async def export_rows(self, job_id: int, after_id: int, limit: int) -> list[ExportRow]:
        rows = await self._database.read(
            lambda tx: tx.rows("export_rows", job_id=job_id, after_id=after_id, limit=limit),
        )
        return export_rows(rows)

    async def result_columns(self, job_id: int) -> list[str]:
        rows = await self._database.read(lambda tx: tx.rows("result_columns", job_id=job_id))
        return [row[0] for row in rows]

    async def error_groups(self, job_id: int, limit: int = 1_000) -> list[ErrorGroup]:
        rows = await self._database.read(
            lambda tx: tx.rows("error_groups", job_id=job_id, limit=limit, variants=MOST_VARIANTS)
        )
        return [ErrorGroup(*row) for row in rows]

    async def workers(self, *, alive_only: bool = True) -> list[WorkerRow]:
        rows = await self._database.read(lambda tx: tx.rows("workers", alive_only=alive_only))
        return [WorkerRow(*row) for row in rows]

    async def status(self) -> StoreStatus:
        jobs, counted, duties = await self._database.read(
            lambda tx: (tx.rows("totals")[0][0], tx.rows("all_counts"), tx.rows("duties"))
        )
        counts = counts_of(counted)
        path = self._database.path
        files = (path, path.with_name(path.name + "-wal"))
        return StoreStatus(
            kind="sqlite",
            location=str(path),
            version=apsw.sqlite_lib_version(),
            schema=await self._database.schema(),
            latest_schema=self._database.latest_schema,
            size_bytes=sum(file.stat().st_size for file in files if file.exists()),
            jobs=jobs,
            items=counts.total,
            counts=counts,
            duties=[DutyRow(*row) for row in duties],
        )

    async def check(self, *, repair: bool) -> list[CheckFinding]:
        return await check(self._database, repair=repair)
