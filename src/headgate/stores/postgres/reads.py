"""The read side on PostgreSQL."""

from typing import Any

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
from headgate.stores.postgres.check import check
from headgate.stores.postgres.connection import PostgresDatabase
from headgate.stores.postgres.literals import text_array
from headgate.stores.postgres.pages import page
from headgate.stores.postgres.records import job_from
from headgate.stores.rows import counts_of, export_rows

Rows = list[tuple[Any, ...]]


class PostgresReads:
    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def job(self, job_id: int, owner: str | None = None) -> Job:
        records = await self._records("job", job_id=job_id)
        if not records or owner not in {None, records[0]["owner"]}:
            raise UnknownJob(f"job {job_id} does not exist")
        return job_from(records[0])

    async def jobs(self, query: JobQuery) -> list[Job]:
        values = msgspec.structs.asdict(query) | patterns(query.text)
        values["states"] = text_array(sorted(query.states)) if query.states else None
        return [job_from(record) for record in await self._records("jobs", **values)]

    async def find_jobs(self, owner: str, handler: str, source: str) -> list[Job]:
        records = await self._records("find_jobs", owner=owner, handler=handler, source=source)
        return [job_from(record) for record in records]

    async def counts(self, job_id: int) -> Counts:
        rows = await self._rows("counts", job_id=job_id)
        return counts_of(rows)

    async def items(self, query: ItemQuery) -> Page:
        listing = Listing(query)
        return await self._database.single(lambda session: page(session, listing))

    async def item(self, item_id: int, owner: str | None = None) -> ItemDetail:
        records = await self._records("item", item_id=item_id)
        if not records or owner not in {None, records[0]["owner"]}:
            raise UnknownItem(f"item {item_id} does not exist")
        record = records[0]
        row = {**record, "locked_by": record["worker"], "result": None}
        return msgspec.convert(record | {"row": row}, ItemDetail)

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
        return [WorkerRow(*row) for row in await self._rows("workers", alive_only=alive_only)]

    async def status(self) -> StoreStatus:
        jobs, size, version = (await self._rows("totals"))[0]
        counts = counts_of(await self._rows("all_counts"))
        return StoreStatus(
            kind="postgresql",
            location=self._database.address.shown,
            version=version,
            schema=await self._database.schema(),
            latest_schema=self._database.latest_schema,
            size_bytes=size,
            jobs=jobs,
            items=counts.total,
            counts=counts,
            duties=[DutyRow(*row) for row in await self._rows("duties")],
        )

    async def check(self, *, repair: bool) -> list[CheckFinding]:
        return await check(self._database, repair=repair)

    async def _rows(self, name: str, **values: Any) -> Rows:
        return await self._database.single(lambda session: session.rows(name, **values))

    async def _records(self, name: str, **values: Any) -> list[dict[str, Any]]:
        return await self._database.single(lambda session: session.records(name, **values))
