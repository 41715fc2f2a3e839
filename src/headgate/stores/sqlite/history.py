"""Items with their attempts on SQLite."""

from collections.abc import Sequence

from headgate.ports.history import ItemHistory
from headgate.ports.reads import ExportRow
from headgate.stores.histories import export_row, histories
from headgate.stores.sqlite.connection import Database, Transaction
from headgate.stores.sqlite.records import as_json


class SqliteHistory:
    """HistoryStore on one file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, job_id: int, after_id: int, limit: int) -> list[ItemHistory]:
        """The next items in input order, with their attempts."""

        def work(tx: Transaction) -> list[ItemHistory]:
            place = {"job_id": job_id, "after_id": after_id}
            rows = [export_row(row) for row in tx.rows("export_rows", limit=limit, **place)]
            if not rows:
                return []
            return histories(rows, tx.rows("histories", last_id=rows[-1].id, **place))

        return await self._database.read(work)

    async def by_key(self, job_id: int, keys: Sequence[str]) -> list[ExportRow]:
        """The rows that have one of these keys."""
        given = as_json(list(keys))
        rows = await self._database.read(
            lambda tx: tx.rows("rows_by_key", job_id=job_id, keys=given)
        )
        return [export_row(row) for row in rows]
