"""Rows, situations and histories of jobs on PostgreSQL."""

from collections.abc import Sequence
from typing import Any

from headgate.core.job import Counts
from headgate.core.review import told
from headgate.core.status import ItemMove
from headgate.core.waiting import COUNTED, TIMED, Deferral, Situation
from headgate.ports.job_reads import FailingRow, ItemHistory
from headgate.ports.jobs import WorkDemand
from headgate.ports.reads import ExportRow, ItemRow
from headgate.stores.listing import STATUSES
from headgate.stores.postgres.connection import PostgresDatabase, PostgresSession
from headgate.stores.postgres.jobs import demand_from
from headgate.stores.postgres.literals import number_array, storable, text_array
from headgate.stores.postgres.pages import item_row
from headgate.stores.rows import counts_of, export_rows, histories


class PostgresRowReads:
    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def by_key(
        self, key: str, job_id: int | None = None, owner: str | None = None
    ) -> list[ItemRow]:
        rows = await self._rows("items_by_key", key=storable(key), job_id=job_id, owner=owner)
        return [item_row(row) for row in rows]

    async def decision(self, item_id: int) -> str | None:
        rows = await self._rows("last_decision", item_id=item_id)
        return told(ItemMove(rows[0][0]), *rows[0][1:]) if rows else None

    async def newest_change(self, job_id: int) -> int:
        return int((await self._rows("newest_change", job_id=job_id))[0][0])

    async def failing(self, job_id: int, since_at: int, limit: int = 1_000) -> list[FailingRow]:
        rows = await self._rows("failing_rows", job_id=job_id, since_at=since_at, limit=limit)
        return [FailingRow(row[0], STATUSES[row[1]], *row[2:]) for row in rows]

    async def first(self, job_id: int, count: int) -> list[int]:
        return [row[0] for row in await self._rows("first_rows", job_id=job_id, limit=count)]

    async def at_places(self, job_id: int, places: Sequence[int]) -> list[int]:
        rows = await self._rows("rows_at_places", job_id=job_id, places=number_array(places))
        return [row[0] for row in rows]

    async def counts_of(self, job_id: int, ids: Sequence[int]) -> Counts:
        return counts_of(await self._rows("counts_of", job_id=job_id, ids=number_array(ids)))

    async def demand_for(self, job_id: int, ids: Sequence[int]) -> WorkDemand:
        return demand_from(await self._rows("demand_for", job_id=job_id, ids=number_array(ids)))

    async def _rows(self, name: str, **values: Any) -> list[tuple[Any, ...]]:
        return await self._database.single(lambda session: session.rows(name, **values))


class PostgresSituations:
    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def of(self, job_id: int) -> Situation:
        return await self._database.single(lambda session: _situation(session, job_id))

    async def handler_s(self, job_id: int) -> float | None:
        values = {"job_id": job_id, "limit": TIMED}
        rows = await self._database.single(lambda session: session.rows("handler_time", **values))
        return None if rows[0][0] is None else rows[0][0] / 1e6


async def _situation(session: PostgresSession, job_id: int) -> Situation:
    now, due, finished_us, workers, others_busy = await session.row("situation", job_id=job_id)
    deferrals = await session.rows("deferrals", job_id=job_id, after=now, limit=COUNTED)
    counts = counts_of(await session.rows("counts", job_id=job_id))
    later = [Deferral(*row) for row in deferrals]
    return Situation(now, counts, due, later, finished_us, workers, others_busy)


class PostgresHistory:
    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def page(self, job_id: int, after_id: int, limit: int) -> list[ItemHistory]:
        place = {"job_id": job_id, "after_id": after_id}

        async def work(session: PostgresSession) -> list[ItemHistory]:
            rows = export_rows(await session.rows("export_rows", limit=limit, **place))
            if not rows:
                return []
            return histories(rows, await session.rows("histories", last_id=rows[-1].id, **place))

        return await self._database.single(work)

    async def by_key(self, job_id: int, keys: Sequence[str]) -> list[ExportRow]:
        given = text_array([storable(key) for key in keys])
        rows = await self._database.single(
            lambda session: session.rows("rows_by_key", job_id=job_id, keys=given)
        )
        return export_rows(rows)
