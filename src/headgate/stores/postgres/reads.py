"""Pages of items: each is one statement of a few index reads, merged by the database."""

from collections.abc import Sequence
from typing import Any

from headgate.core.errors import UnknownJob, UsageError
from headgate.core.paging import SortOrder
from headgate.core.status import OPEN, ItemStatus
from headgate.ports.reads import ItemQuery, ItemRow, ItemRows
from headgate.stores.listing import AT_REST, FAR, TAIL_US, WINDOW, Listing
from headgate.stores.postgres.connection import PostgresDatabase, PostgresSession
from headgate.stores.reads import SqlReads

Until = tuple[int, int] | None
"""The last (time, id) that is read, if there may be more behind it."""


class PostgresReads(SqlReads):
    def __init__(self, database: PostgresDatabase) -> None:
        super().__init__(database)
        self._server = database

    async def items(self, query: ItemQuery) -> ItemRows:
        listing = Listing(query)
        return await self._server.single(lambda session: _page(session, listing))


async def _page(session: PostgresSession, listing: Listing) -> ItemRows:
    await _require_owned(session, listing.query)
    read = _in_order if listing.query.order is SortOrder.INPUT else _by_time
    rows, until = await read(session, listing)
    return listing.page([_item_row(row) for row in rows], until)


async def _require_owned(session: PostgresSession, query: ItemQuery) -> None:
    if query.job_id is None or query.owner is None:
        return
    job = await session.record("job", job_id=query.job_id)
    if job is None or job["owner"] != query.owner:
        raise UnknownJob(f"job {query.job_id} does not exist")


async def _in_order(session: PostgresSession, listing: Listing) -> tuple[list[Any], Until]:
    query = listing.query
    if query.signature is not None and query.statuses and ItemStatus.ERROR not in query.statuses:
        return [], None
    place = {"job_id": query.job_id, "after_id": listing.after_id}
    end = await session.rows("window_in_order", rows=WINDOW, **place) if listing.sparse else []
    last_id = end[0][0] if end else FAR
    rows = await session.rows(
        "items_by_signature" if query.signature is not None else "items_in_order",
        **place,
        last_id=last_id,
        statuses=sorted(query.statuses) if query.statuses else None,
        **listing.filters(),
    )
    return rows, (0, last_id) if end else None


async def _by_time(session: PostgresSession, listing: Listing) -> tuple[list[Any], Until]:
    query = listing.query
    values: dict[str, Any] = listing.filters() | {
        "after_at": listing.after_at,
        "after_id": listing.after_id,
        "before_at": query.changed_to or FAR,
        "before_id": 0,
        "tail_us": 0 if query.tail else TAIL_US,
    }
    if query.job_id is not None:
        name = "by_status"
        values["job_id"] = query.job_id
        values["statuses"] = sorted(query.statuses or ItemStatus)
    else:
        name = "across_jobs"
        values |= _across(query)
    until = None
    if listing.sparse:
        end = await session.rows(f"window_{name}", rows=WINDOW, **values)
        until = (end[0][0], end[0][1]) if end else None
    if until:
        values |= {"before_at": until[0], "before_id": until[1] + 1}
    return await session.rows(f"items_{name}", **values), until


def _across(query: ItemQuery) -> dict[str, Any]:
    statuses = query.statuses or OPEN | AT_REST
    for status in sorted(statuses - OPEN - AT_REST):
        raise UsageError(f"items in {status} can only be listed within a job")
    return {
        "opened": sorted(statuses & OPEN),
        "resting": sorted(statuses & AT_REST),
        "owner": query.owner,
        "handler": query.handler,
    }


def _item_row(row: Sequence[Any]) -> ItemRow:
    """An item of a list, from the columns of a query for one."""
    item_id, job_id, key, line, status, *rest = row
    return ItemRow(item_id, job_id, key, line, ItemStatus(status), *rest)
