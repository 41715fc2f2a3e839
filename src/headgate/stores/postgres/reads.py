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
    """ReadStore on one database."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def job(self, job_id: int, owner: str | None = None) -> Job:
        """One job (of that owner), or UnknownJob."""
        records = await self._records("job", job_id=job_id)
        if not records or owner not in {None, records[0]["owner"]}:
            raise UnknownJob(f"there is no job {job_id}")
        return job_from(records[0])

    async def jobs(self, query: JobQuery) -> list[Job]:
        """Jobs, newest first."""
        values = msgspec.structs.asdict(query) | patterns(query.text)
        values["states"] = text_array(sorted(query.states)) if query.states else None
        return [job_from(record) for record in await self._records("jobs", **values)]

    async def find_jobs(self, owner: str, handler: str, source: str) -> list[Job]:
        """Jobs of one handler over one source, newest first."""
        records = await self._records("find_jobs", owner=owner, handler=handler, source=source)
        return [job_from(record) for record in records]

    async def counts(self, job_id: int) -> Counts:
        """The maintained counters of a job."""
        rows = await self._rows("counts", job_id=job_id)
        return counts_of(rows)

    async def items(self, query: ItemQuery) -> Page:
        """A page of items."""
        listing = Listing(query)
        return await self._database.single(lambda session: page(session, listing))

    async def item(self, item_id: int, owner: str | None = None) -> ItemDetail:
        """One item (of that owner), or UnknownItem."""
        records = await self._records("item", item_id=item_id)
        if not records or owner not in {None, records[0]["owner"]}:
            raise UnknownItem(f"there is no item {item_id}")
        record = records[0]
        row = {**record, "locked_by": record["worker"], "result": None}
        return msgspec.convert(record | {"row": row}, ItemDetail)

    async def attempts(self, item_id: int) -> list[AttemptRow]:
        """An item's history, oldest first."""
        return [AttemptRow(*row) for row in await self._rows("attempts", item_id=item_id)]

    async def calls(self, job_id: int, after_id: int, limit: int) -> CallsPage:
        """What the attempts of some items asked of the network, in input order."""
        rows = await self._rows("calls", job_id=job_id, after_id=after_id, limit=limit)
        return CallsPage([text for _, text in rows if text], rows[-1][0] if rows else None)

    async def events(self, query: EventQuery) -> list[EventRow]:
        """The record of decisions, oldest first (or newest first)."""
        values = msgspec.structs.asdict(query) | {"before_id": query.after_id or FAR}
        return [EventRow(*row) for row in await self._rows(events_query(query), **values)]

    async def export_rows(self, job_id: int, after_id: int, limit: int) -> list[ExportRow]:
        """Rows in input order, from the stored results."""
        rows = await self._rows("export_rows", job_id=job_id, after_id=after_id, limit=limit)
        return export_rows(rows)

    async def result_columns(self, job_id: int) -> list[str]:
        """The names that the job's results use, in order of first appearance."""
        return [row[0] for row in await self._rows("result_columns", job_id=job_id)]

    async def error_groups(self, job_id: int, limit: int = 1_000) -> list[ErrorGroup]:
        """Failures of a job by kind, the most frequent kinds first."""
        rows = await self._rows("error_groups", job_id=job_id, limit=limit, variants=MOST_VARIANTS)
        return [ErrorGroup(*row) for row in rows]

    async def workers(self, *, alive_only: bool = True) -> list[WorkerRow]:
        """Workers, newest first."""
        return [WorkerRow(*row) for row in await self._rows("workers", alive_only=alive_only)]

    async def status(self) -> StoreStatus:
        """Size, schema and location."""
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
        """Compare the store with its own laws; optionally mend counters."""
        return await check(self._database, repair=repair)

    async def _rows(self, name: str, **values: Any) -> Rows:
        return await self._database.single(lambda session: session.rows(name, **values))

    async def _records(self, name: str, **values: Any) -> list[dict[str, Any]]:
        return await self._database.single(lambda session: session.records(name, **values))
