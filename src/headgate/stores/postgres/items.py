"""Items on PostgreSQL, the hot path: a whole batch is one statement and one round trip."""

from collections.abc import Sequence
from typing import Any

from headgate.core.item import ClaimedItem, NewItem
from headgate.ports.items import (
    ClaimRequest,
    EnqueueReport,
    EnqueueRequest,
    HeldLease,
    SettleReport,
    SettleRequest,
)
from headgate.stores.item_changes import SqlItems, counts_of_returned
from headgate.stores.postgres.claim import Claims, shard_of
from headgate.stores.postgres.connection import PostgresDatabase, PostgresSession
from headgate.stores.postgres.enqueue import Enqueue
from headgate.stores.postgres.literals import pack_rows, settlement_arrays
from headgate.stores.rows import MICROSECONDS


class PostgresItems(SqlItems):
    def __init__(self, database: PostgresDatabase) -> None:
        super().__init__(database)
        self._server = database
        self._claims = Claims(database)

    def pack(self, items: Sequence[NewItem]) -> list[bytes]:
        """The rows in COPY format, without the columns that only the transaction knows."""
        return pack_rows(items)

    async def enqueue_many(self, request: EnqueueRequest) -> EnqueueReport:
        return await Enqueue(self._server, request).run()

    async def claim(self, request: ClaimRequest) -> list[ClaimedItem]:
        return await self._claims.claim(request)

    async def settle_many(self, request: SettleRequest) -> SettleReport:
        arrays = settlement_arrays(request.settlements) if request.settlements else None

        async def work(session: PostgresSession) -> SettleReport:
            refused: list[tuple[Any, ...]] = []
            if arrays is not None:
                refused = await session.rows(
                    "settle_items",
                    worker=request.worker,
                    shard=shard_of(request.worker),
                    again=session.again,
                    **arrays,
                )
            for columns in request.columns:
                values = {"job_id": columns.job_id, "names": list(columns.names)}
                await session.change("insert_columns", **values)
            return SettleReport([row[0] for row in refused])

        # Column names are rarely new; without them one statement is the whole transaction.
        return await (self._server.write if request.columns else self._server.single)(work)

    async def release(self, worker: str, held: Sequence[HeldLease]) -> int:
        async def work(session: PostgresSession) -> int:
            returned = await session.rows(
                "release_items",
                worker=worker,
                ids=[each.item_id for each in held],
                epochs=[each.epoch for each in held],
            )
            await session.add_counts(counts_of_returned(returned))
            return len(returned)

        return await self._server.write(work)

    async def extend(self, worker: str, held: Sequence[HeldLease], lease_s: float) -> int:
        async def work(session: PostgresSession) -> int:
            extended = await session.rows(
                "extend_leases",
                worker=worker,
                ids=[each.item_id for each in held],
                epochs=[each.epoch for each in held],
                lease_us=int(lease_s * MICROSECONDS),
            )
            return len(extended)

        return await self._server.single(work)
