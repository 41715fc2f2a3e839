"""The read side on PostgreSQL."""

from collections.abc import Sequence
from typing import Any

import msgspec

from headgate.core.errors import UnknownItem, UnknownJob, UsageError
from headgate.core.job import Counts, Job
from headgate.core.paging import Cursor, Order, decode_cursor, encode_cursor, filter_hash
from headgate.core.status import OPEN, ItemStatus
from headgate.core.worker import WorkerRow
from headgate.ports.reads import (
    AttemptRow,
    CallsPage,
    EventRow,
    ExportRow,
    Finding,
    ItemDetail,
    ItemQuery,
    ItemRow,
    Page,
    StoreStatus,
)
from headgate.stores.postgres.check import check
from headgate.stores.postgres.connection import Database
from headgate.stores.postgres.literals import text_array
from headgate.stores.postgres.rows import job_from

TAIL_US = 2_000_000
"""Pages by time stop this long before now, so that a commit still under way is not jumped over."""
AT_REST = frozenset({ItemStatus.REVIEW, ItemStatus.ERROR, ItemStatus.NOT_FOUND})
"""The statuses that have an index across jobs."""
Rows = list[tuple[Any, ...]]


class PostgresReads:
    """ReadStore on one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def job(self, job_id: int) -> Job:
        """One job, or UnknownJob."""
        records = await self._records("job", job_id=job_id)
        if not records:
            raise UnknownJob(f"there is no job {job_id}")
        return job_from(records[0])

    async def jobs(
        self,
        owner: str | None = None,
        after_id: int = 0,
        limit: int = 100,
    ) -> list[Job]:
        """Jobs, newest first; `after_id` is the last id of the page before (0: from the top)."""
        records = await self._records("jobs", owner=owner, after_id=after_id, limit=limit)
        return [job_from(record) for record in records]

    async def find_jobs(self, owner: str, handler: str, source: str) -> list[Job]:
        """Jobs of one handler over one source, newest first."""
        records = await self._records("find_jobs", owner=owner, handler=handler, source=source)
        return [job_from(record) for record in records]

    async def counts(self, job_id: int) -> Counts:
        """The maintained counters of a job."""
        rows = await self._rows("counts", job_id=job_id)
        return Counts(**{status.lower(): n for status, n in rows})

    async def items(self, query: ItemQuery) -> Page:
        """A page of items."""
        name = filter_hash(
            query.job_id, sorted(query.statuses), query.owner, query.handler, query.error_class
        )
        after = decode_cursor(query.after, query.order, name) if query.after else None
        rows = await self._page(query, after)
        items = [_item_row(row) for row in rows[: query.limit]]
        if len(rows) <= query.limit:
            return Page(items, None)
        last = items[-1]
        return Page(items, encode_cursor(Cursor(query.order, name, last.updated_at, last.id)))

    async def item(self, item_id: int) -> ItemDetail:
        """One item, or UnknownItem."""
        records = await self._records("item", item_id=item_id)
        if not records:
            raise UnknownItem(f"there is no item {item_id}")
        record = records[0]
        return msgspec.convert(
            record | {"row": {**record, "locked_by": record["worker"]}}, ItemDetail
        )

    async def attempts(self, item_id: int) -> list[AttemptRow]:
        """An item's history, oldest first."""
        return [AttemptRow(*row) for row in await self._rows("attempts", item_id=item_id)]

    async def calls(self, job_id: int, after_id: int, limit: int) -> CallsPage:
        """What the attempts of some items asked of the network, in input order."""
        rows = await self._rows("calls", job_id=job_id, after_id=after_id, limit=limit)
        return CallsPage([text for _, text in rows if text], rows[-1][0] if rows else None)

    async def events(
        self,
        job_id: int | None,
        after_id: int = 0,
        limit: int = 100,
    ) -> list[EventRow]:
        """The record of decisions, oldest first."""
        rows = await self._rows("events", job_id=job_id, after_id=after_id, limit=limit)
        return [EventRow(*row) for row in rows]

    async def export_rows(self, job_id: int, after_id: int, limit: int) -> list[ExportRow]:
        """Rows in input order, from the stored results."""
        rows = await self._rows("export_rows", job_id=job_id, after_id=after_id, limit=limit)
        return [
            ExportRow(item_id, key, ItemStatus(status), *rest)
            for item_id, key, status, *rest in rows
        ]

    async def result_columns(self, job_id: int) -> list[str]:
        """The names that the job's results use, in order of first appearance."""
        return [row[0] for row in await self._rows("result_columns", job_id=job_id)]

    async def error_classes(self, job_id: int) -> list[tuple[str, str, int]]:
        """Failures of a job as (class, example reason, count), most frequent first."""
        rows = await self._rows("error_classes", job_id=job_id)
        return [(name, example, count) for name, example, count in rows]

    async def workers(self, *, alive_only: bool = True) -> list[WorkerRow]:
        """Workers, newest first."""
        return [WorkerRow(*row) for row in await self._rows("workers", alive_only=alive_only)]

    async def status(self) -> StoreStatus:
        """Size, schema and location."""
        jobs, items, size, version = (await self._rows("totals"))[0]
        return StoreStatus(
            kind="postgresql",
            location=self._database.address.shown,
            version=version,
            schema=await self._database.schema(),
            latest_schema=self._database.latest_schema,
            size_bytes=size,
            jobs=jobs,
            items=items,
        )

    async def check(self, *, repair: bool) -> list[Finding]:
        """Compare the store with its own laws; optionally mend counters."""
        return await check(self._database, repair=repair)

    async def _rows(self, name: str, **values: Any) -> Rows:
        return await self._database.single(lambda session: session.rows(name, **values))

    async def _records(self, name: str, **values: Any) -> list[dict[str, Any]]:
        return await self._database.single(lambda session: session.records(name, **values))

    async def _page(self, query: ItemQuery, after: Cursor | None) -> Rows:
        after_id = after.id if after else 0
        values: dict[str, Any] = {"error_class": query.error_class, "limit": query.limit + 1}
        if query.order is Order.INPUT:
            if query.job_id is None:
                raise UsageError(
                    "across jobs, items can only be listed by the time of their change"
                )
            statuses = text_array(sorted(query.statuses)) if query.statuses else None
            values |= {"job_id": query.job_id, "after_id": after_id, "statuses": statuses}
            return await self._rows("items_in_order", **values)
        values |= {
            "after_at": after.updated_at if after else 0,
            "after_id": after_id,
            "tail_us": 0 if query.tail else TAIL_US,
        }
        if query.job_id is not None:
            statuses = text_array(sorted(query.statuses or ItemStatus))
            return await self._rows(
                "items_by_status", job_id=query.job_id, statuses=statuses, **values
            )
        return await self._rows("items_across_jobs", **values, **_across(query))


def _across(query: ItemQuery) -> dict[str, str | None]:
    statuses = query.statuses or OPEN | AT_REST
    for status in sorted(statuses - OPEN - AT_REST):
        raise UsageError(f"items in {status} can only be listed within a job")
    return {
        "opened": text_array(sorted(statuses & OPEN)),
        "resting": text_array(sorted(statuses & AT_REST)),
        "owner": query.owner,
        "handler": query.handler,
    }


def _item_row(row: Sequence[Any]) -> ItemRow:
    item_id, job_id, key, line, status, *rest = row
    return ItemRow(item_id, job_id, key, line, ItemStatus(status), *rest)
