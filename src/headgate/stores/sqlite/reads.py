"""The read side on SQLite."""

from collections.abc import Iterator
from heapq import merge
from itertools import islice
from typing import Any

import apsw
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
from headgate.stores.sqlite.check import check
from headgate.stores.sqlite.connection import Database, Transaction
from headgate.stores.sqlite.jobs import job_from
from headgate.stores.sqlite.records import as_json

TAIL_US = 2_000_000
"""Pages by time stop this long before now, so that a commit still under way is not jumped over."""
AT_REST = frozenset({ItemStatus.REVIEW, ItemStatus.ERROR, ItemStatus.NOT_FOUND})
"""The statuses that have an index across jobs."""


class SqliteReads:
    """ReadStore on one file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def job(self, job_id: int) -> Job:
        """One job, or UnknownJob."""
        row = await self._database.read(lambda tx: tx.record("job", job_id=job_id))
        if row is None:
            raise UnknownJob(f"there is no job {job_id}")
        return job_from(row)

    async def jobs(
        self,
        owner: str | None = None,
        after_id: int = 0,
        limit: int = 100,
    ) -> list[Job]:
        """Jobs, newest first; `after_id` is the last id of the page before (0: from the top)."""
        rows = await self._database.read(
            lambda tx: tx.records("jobs", owner=owner, after_id=after_id, limit=limit),
        )
        return [job_from(row) for row in rows]

    async def find_jobs(self, owner: str, handler: str, source: str) -> list[Job]:
        """Jobs of one handler over one source, newest first."""
        rows = await self._database.read(
            lambda tx: tx.records("find_jobs", owner=owner, handler=handler, source=source),
        )
        return [job_from(row) for row in rows]

    async def counts(self, job_id: int) -> Counts:
        """The maintained counters of a job."""
        rows = await self._database.read(lambda tx: tx.rows("counts", job_id=job_id))
        return Counts(**{status.lower(): n for status, n in rows})

    async def items(self, query: ItemQuery) -> Page:
        """A page of items."""
        if query.job_id is None and query.order is Order.INPUT:
            raise UsageError("across jobs, items can only be listed by the time of their change")
        name = filter_hash(
            query.job_id, sorted(query.statuses), query.owner, query.handler, query.error_class
        )
        after = decode_cursor(query.after, query.order, name) if query.after else None
        rows = await self._database.read(lambda tx: _page(tx, query, after))
        more = len(rows) > query.limit
        items = [msgspec.convert(row, ItemRow) for row in rows[: query.limit]]
        if not more:
            return Page(items, None)
        last = items[-1]
        return Page(items, encode_cursor(Cursor(query.order, name, last.updated_at, last.id)))

    async def item(self, item_id: int) -> ItemDetail:
        """One item, or UnknownItem."""
        row = await self._database.read(lambda tx: tx.record("item", item_id=item_id))
        if row is None:
            raise UnknownItem(f"there is no item {item_id}")
        shared = {"row": {**row, "locked_by": row["worker"]}, "suspect": bool(row["suspect"])}
        return msgspec.convert(row | shared, ItemDetail)

    async def attempts(self, item_id: int) -> list[AttemptRow]:
        """An item's history, oldest first."""
        rows = await self._database.read(lambda tx: tx.rows("attempts", item_id=item_id))
        return [AttemptRow(*row) for row in rows]

    async def calls(self, job_id: int, after_id: int, limit: int) -> CallsPage:
        """What the attempts of some items asked of the network, in input order."""
        rows = await self._database.read(
            lambda tx: tx.rows("calls", job_id=job_id, after_id=after_id, limit=limit)
        )
        return CallsPage([text for _, text in rows if text], rows[-1][0] if rows else None)

    async def events(
        self,
        job_id: int | None,
        after_id: int = 0,
        limit: int = 100,
    ) -> list[EventRow]:
        """The record of decisions, oldest first."""
        rows = await self._database.read(
            lambda tx: tx.rows("events", job_id=job_id, after_id=after_id, limit=limit),
        )
        return [EventRow(*row) for row in rows]

    async def export_rows(self, job_id: int, after_id: int, limit: int) -> list[ExportRow]:
        """Rows in input order, from the stored results."""
        rows = await self._database.read(
            lambda tx: tx.rows("export_rows", job_id=job_id, after_id=after_id, limit=limit),
        )
        return [
            ExportRow(item_id, key, ItemStatus(status), *rest)
            for item_id, key, status, *rest in rows
        ]

    async def result_columns(self, job_id: int) -> list[str]:
        """The names that the job's results use, in order of first appearance."""
        rows = await self._database.read(lambda tx: tx.rows("result_columns", job_id=job_id))
        return [row[0] for row in rows]

    async def error_classes(self, job_id: int) -> list[tuple[str, str, int]]:
        """Failures of a job as (class, example reason, count), most frequent first."""
        return await self._database.read(lambda tx: tx.rows("error_classes", job_id=job_id))

    async def workers(self, *, alive_only: bool = True) -> list[WorkerRow]:
        """Workers, newest first."""
        rows = await self._database.read(lambda tx: tx.rows("workers", alive_only=alive_only))
        return [WorkerRow(*row) for row in rows]

    async def status(self) -> StoreStatus:
        """Size, schema and location."""
        jobs, items = (await self._database.read(lambda tx: tx.rows("totals")))[0]
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
            items=items,
        )

    async def check(self, *, repair: bool) -> list[Finding]:
        """Compare the store with its own laws; optionally mend counters."""
        return await check(self._database, repair=repair)


def _page(tx: Transaction, query: ItemQuery, after: Cursor | None) -> list[Any]:
    if query.order is Order.INPUT:
        return tx.records(
            "items_in_order",
            job_id=query.job_id,
            after_id=after.id if after else 0,
            statuses=as_json(sorted(query.statuses)) if query.statuses else None,
            error_class=query.error_class,
            limit=query.limit + 1,
        )
    # Ordered reads, merged: no status, job or owner makes another one sort.
    reads = (tx.records(name, **values) for name, values in _branches(tx, query, after))
    in_time = merge(*reads, key=lambda row: (row["updated_at"], row["id"]))
    return list(islice(in_time, query.limit + 1))


Branch = tuple[str, dict[str, Any]]


def _branches(tx: Transaction, query: ItemQuery, after: Cursor | None) -> Iterator[Branch]:
    """The index reads whose merge is the answer."""
    shared: dict[str, Any] = {
        "after_at": after.updated_at if after else 0,
        "after_id": after.id if after else 0,
        "before": tx.now + 1 if query.tail else tx.now - TAIL_US,
        "error_class": query.error_class,
        "limit": query.limit + 1,
    }
    everything = ItemStatus if query.job_id is not None else OPEN | AT_REST
    for status in sorted(query.statuses or everything):
        values = shared | {"status": status}
        if query.job_id is not None:
            yield "items_by_status", values | {"job_id": query.job_id}
        elif status in OPEN:
            for job_id in _unfinished_jobs(tx, query):
                yield "items_by_status", values | {"job_id": job_id}
        elif status in AT_REST:
            for owner in _owners(tx, query):
                yield "items_across_jobs", values | {"owner": owner, "handler": query.handler}
        else:
            raise UsageError(f"items in {status} can only be listed within a job")


def _unfinished_jobs(tx: Transaction, query: ItemQuery) -> list[int]:
    rows = tx.rows("unfinished_jobs", owner=query.owner, handler=query.handler)
    return [row[0] for row in rows]


def _owners(tx: Transaction, query: ItemQuery) -> list[str]:
    return [query.owner] if query.owner else [row[0] for row in tx.rows("owners")]
