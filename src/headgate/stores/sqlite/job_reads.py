"""Rows, situations and histories of jobs on SQLite."""

from collections.abc import Sequence

import msgspec

from headgate.core.job import Counts
from headgate.core.review import told
from headgate.core.status import ItemMove
from headgate.core.waiting import COUNTED, TIMED, Deferral, Situation
from headgate.ports.job_reads import FailingRow, ItemHistory
from headgate.ports.jobs import WorkDemand
from headgate.ports.reads import ExportRow, ItemRow
from headgate.stores.listing import STATUSES
from headgate.stores.rows import counts_of, export_rows, histories
from headgate.stores.sqlite.connection import SqliteDatabase, Transaction
from headgate.stores.sqlite.jobs import demand_from
from headgate.stores.sqlite.records import as_json


class SqliteRowReads:
    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def by_key(
        self, key: str, job_id: int | None = None, owner: str | None = None
    ) -> list[ItemRow]:
        values = {"key": key, "job_id": job_id, "owner": owner}
        rows = await self._database.read(lambda tx: tx.records("items_by_key", **values))
        return [msgspec.convert(row, ItemRow) for row in rows]

    async def decision(self, item_id: int) -> str | None:
        row = await self._database.read(lambda tx: tx.row("last_decision", item_id=item_id))
        return None if row is None else told(ItemMove(row[0]), *row[1:])

    async def newest_change(self, job_id: int) -> int:
        row = await self._database.read(lambda tx: tx.row("newest_change", job_id=job_id))
        return 0 if row is None else int(row[0])

    async def failing(self, job_id: int, since_at: int, limit: int = 1_000) -> list[FailingRow]:
        values = {"job_id": job_id, "since_at": since_at, "limit": limit}
        rows = await self._database.read(lambda tx: tx.rows("failing_rows", **values))
        return [FailingRow(row[0], STATUSES[row[1]], *row[2:]) for row in rows]

    async def first(self, job_id: int, count: int) -> list[int]:
        rows = await self._database.read(
            lambda tx: tx.rows("first_rows", job_id=job_id, limit=count)
        )
        return [row[0] for row in rows]

    async def at_places(self, job_id: int, places: Sequence[int]) -> list[int]:
        values = {"job_id": job_id, "places": as_json(list(places))}
        rows = await self._database.read(lambda tx: tx.rows("rows_at_places", **values))
        return [row[0] for row in rows]

    async def counts_of(self, job_id: int, ids: Sequence[int]) -> Counts:
        values = {"job_id": job_id, "ids": as_json(list(ids))}
        return counts_of(await self._database.read(lambda tx: tx.rows("counts_of", **values)))

    async def demand_for(self, job_id: int, ids: Sequence[int]) -> WorkDemand:
        values = {"job_id": job_id, "ids": as_json(list(ids))}
        return await self._database.read(
            lambda tx: demand_from(tx, tx.rows("demand_for", **values))
        )


class SqliteSituations:
    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def of(self, job_id: int) -> Situation:
        return await self._database.read(lambda tx: _situation(tx, job_id))

    async def handler_s(self, job_id: int) -> float | None:
        values = {"job_id": job_id, "limit": TIMED}
        rows = await self._database.read(lambda tx: tx.rows("handler_time", **values))
        return None if rows[0][0] is None else rows[0][0] / 1e6


def _situation(tx: Transaction, job_id: int) -> Situation:
    due, finished_us, workers, others_busy = tx.rows("situation", job_id=job_id)[0]
    deferrals = tx.rows("deferrals", job_id=job_id, limit=COUNTED)
    return Situation(
        tx.now,
        counts_of(tx.rows("counts", job_id=job_id)),
        bool(due),
        [Deferral(*row) for row in deferrals],
        finished_us,
        workers,
        bool(others_busy),
    )


class SqliteHistory:
    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def page(self, job_id: int, after_id: int, limit: int) -> list[ItemHistory]:
        def work(tx: Transaction) -> list[ItemHistory]:
            place = {"job_id": job_id, "after_id": after_id}
            rows = export_rows(tx.rows("export_rows", limit=limit, **place))
            if not rows:
                return []
            return histories(rows, tx.rows("histories", last_id=rows[-1].id, **place))

        return await self._database.read(work)

    async def by_key(self, job_id: int, keys: Sequence[str]) -> list[ExportRow]:
        given = as_json(list(keys))
        rows = await self._database.read(
            lambda tx: tx.rows("rows_by_key", job_id=job_id, keys=given)
        )
        return export_rows(rows)
