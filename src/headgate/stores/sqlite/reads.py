"""Pages of items: each is a few index reads, merged."""

from collections.abc import Iterator
from heapq import merge
from itertools import islice
from typing import Any

import msgspec

from headgate.core.errors import UnknownJob, UsageError
from headgate.core.paging import SortOrder
from headgate.core.status import OPEN, ItemStatus
from headgate.ports.reads import ItemQuery, ItemRow, ItemRows
from headgate.stores.listing import AT_REST, FAR, TAIL_US, WINDOW, Listing
from headgate.stores.reads import SqlReads
from headgate.stores.rows import as_json
from headgate.stores.sqlite.connection import SqliteDatabase, SqliteTransactions
from headgate.stores.sqlite.transaction import SqliteTransaction

Branch = tuple[str, dict[str, Any]]
"""An index, and the values of a read in it."""


class SqliteReads(SqlReads):
    def __init__(self, database: SqliteDatabase) -> None:
        super().__init__(SqliteTransactions(database))
        self._file = database

    async def items(self, query: ItemQuery) -> ItemRows:
        listing = Listing(query)
        return await self._file.read(lambda tx: _page(tx, listing))


def _page(tx: SqliteTransaction, listing: Listing) -> ItemRows:
    query = listing.query
    _require_owned(tx, query)
    read = _in_order if query.order is SortOrder.INPUT else _by_time
    rows, until = read(tx, listing)
    return listing.page([msgspec.convert(row, ItemRow) for row in rows], until)


def _require_owned(tx: SqliteTransaction, query: ItemQuery) -> None:
    if query.job_id is None or query.owner is None:
        return
    job = tx.record("job", job_id=query.job_id)
    if job is None or job["owner"] != query.owner:
        raise UnknownJob(f"job {query.job_id} does not exist")


Found = tuple[list[dict[str, Any]], tuple[int, int] | None]


def _in_order(tx: SqliteTransaction, listing: Listing) -> Found:
    query = listing.query
    if query.signature is not None and query.statuses and ItemStatus.ERROR not in query.statuses:
        return [], None
    place = {"job_id": query.job_id, "after_id": listing.after_id}
    until = tx.row("window_in_order", rows=WINDOW, **place) if listing.sparse else None
    rows = tx.records(
        "items_by_signature" if query.signature is not None else "items_in_order",
        **place,
        last_id=until[0] if until else FAR,
        statuses=as_json(sorted(query.statuses)) if query.statuses else None,
        **listing.filters(),
    )
    return rows, (0, until[0]) if until else None


def _by_time(tx: SqliteTransaction, listing: Listing) -> Found:
    query = listing.query
    values: dict[str, Any] = listing.filters() | {
        "after_at": listing.after_at,
        "after_id": listing.after_id,
        "before_at": min(tx.now + 1 if query.tail else tx.now - TAIL_US, query.changed_to or FAR),
        "before_id": 0,
    }
    branches = list(_branches(tx, query))
    until = _window(tx, listing, branches, values) if listing.sparse else None
    if until:
        values |= {"before_at": until[0], "before_id": until[1] + 1}
    # The merged reads are ordered already, so no filter makes the database sort.
    reads = (tx.records(f"items_{name}", **values | branch) for name, branch in branches)
    in_time = merge(*reads, key=lambda row: (row["updated_at"], row["id"]))
    return list(islice(in_time, query.limit + 1)), until


def _window(
    tx: SqliteTransaction, listing: Listing, branches: list[Branch], values: dict[str, Any]
) -> tuple[int, int] | None:
    """The position up to which all branches together have about as many rows as one call reads."""
    rows = max(WINDOW // max(len(branches), 1), listing.query.limit + 1)
    ends = (tx.row(f"window_{name}", rows=rows, **values | branch) for name, branch in branches)
    return min((end for end in ends if end is not None), default=None)


def _branches(tx: SqliteTransaction, query: ItemQuery) -> Iterator[Branch]:
    """The index reads whose merge is the answer."""
    everything = ItemStatus if query.job_id is not None else OPEN | AT_REST
    for status in sorted(query.statuses or everything):
        if query.job_id is not None:
            yield "by_status", {"status": status, "job_id": query.job_id}
        elif status in OPEN:
            for job_id in _unfinished_jobs(tx, query):
                yield "by_status", {"status": status, "job_id": job_id}
        elif status in AT_REST:
            for owner in _owners(tx, query):
                branch = {"status": status, "owner": owner, "handler": query.handler}
                yield "across_jobs", branch
        else:
            raise UsageError(f"items in {status} can only be listed within a job")


def _unfinished_jobs(tx: SqliteTransaction, query: ItemQuery) -> list[int]:
    rows = tx.rows("unfinished_jobs", owner=query.owner, handler=query.handler)
    return [row[0] for row in rows]


def _owners(tx: SqliteTransaction, query: ItemQuery) -> list[str]:
    return [query.owner] if query.owner else [row[0] for row in tx.rows("owners")]
