"""Chosen rows of a job on PostgreSQL."""

from collections.abc import Sequence
from typing import Any

from headgate.core.job import Counts
from headgate.core.review import told
from headgate.core.status import ItemMove
from headgate.ports.jobs import Demand
from headgate.ports.reads import ItemRow
from headgate.ports.row_reads import FailingRow
from headgate.stores.histories import counts_of
from headgate.stores.listing import STATUSES
from headgate.stores.postgres.connection import Database
from headgate.stores.postgres.jobs import demand_in
from headgate.stores.postgres.literals import number_array, storable
from headgate.stores.postgres.pages import item_row


class PostgresRowReads:
    """RowReads on one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def by_key(
        self, key: str, job_id: int | None = None, owner: str | None = None
    ) -> list[ItemRow]:
        """The items that have this key, those of the newest jobs first; at most 100."""
        rows = await self._rows("items_by_key", key=storable(key), job_id=job_id, owner=owner)
        return [item_row(row) for row in rows]

    async def decision(self, item_id: int) -> str | None:
        """What a person decided about an item the last time, in words; None: nothing yet."""
        rows = await self._rows("last_decision", item_id=item_id)
        return told(ItemMove(rows[0][0]), *rows[0][1:]) if rows else None

    async def newest_change(self, job_id: int) -> int:
        """When the last of the job's pending or failed rows was changed, on the store's clock."""
        return int((await self._rows("newest_change", job_id=job_id))[0][0])

    async def failing(self, job_id: int, since_at: int, limit: int = 1_000) -> list[FailingRow]:
        """Rows that failed after `since_at`: up to `limit` that wait, and as many in ERROR."""
        rows = await self._rows("failing_rows", job_id=job_id, since_at=since_at, limit=limit)
        return [FailingRow(row[0], STATUSES[row[1]], *row[2:]) for row in rows]

    async def first(self, job_id: int, count: int) -> list[int]:
        """The ids of the job's first rows, in input order."""
        return [row[0] for row in await self._rows("first_rows", job_id=job_id, limit=count)]

    async def at_places(self, job_id: int, places: Sequence[int]) -> list[int]:
        """The ids of the rows at these places in input order; the first place is 1."""
        rows = await self._rows("rows_at_places", job_id=job_id, places=number_array(places))
        return [row[0] for row in rows]

    async def counts_of(self, job_id: int, ids: Sequence[int]) -> Counts:
        """Where these rows of a job stand."""
        return counts_of(await self._rows("counts_of", job_id=job_id, ids=number_array(ids)))

    async def demand_for(self, job_id: int, ids: Sequence[int]) -> Demand:
        """What there is to do for these rows of a job."""
        return demand_in(await self._rows("demand_for", job_id=job_id, ids=number_array(ids)))

    async def _rows(self, name: str, **values: Any) -> list[tuple[Any, ...]]:
        return await self._database.single(lambda session: session.rows(name, **values))
