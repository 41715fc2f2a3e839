"""Items with their attempts on PostgreSQL."""

from collections.abc import Sequence

from headgate.ports.history import ItemHistory
from headgate.ports.reads import ExportRow
from headgate.stores.histories import export_row, histories
from headgate.stores.postgres.connection import Database, Session
from headgate.stores.postgres.literals import storable, text_array


class PostgresHistory:
    """HistoryStore on one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, job_id: int, after_id: int, limit: int) -> list[ItemHistory]:
        """The next items in input order, with their attempts."""
        place = {"job_id": job_id, "after_id": after_id}

        async def work(session: Session) -> list[ItemHistory]:
            rows = [
                export_row(row) for row in await session.rows("export_rows", limit=limit, **place)
            ]
            if not rows:
                return []
            return histories(rows, await session.rows("histories", last_id=rows[-1].id, **place))

        return await self._database.single(work)

    async def by_key(self, job_id: int, keys: Sequence[str]) -> list[ExportRow]:
        """The rows that have one of these keys."""
        given = text_array([storable(key) for key in keys])
        rows = await self._database.single(
            lambda session: session.rows("rows_by_key", job_id=job_id, keys=given)
        )
        return [export_row(row) for row in rows]
