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
from headgate.stores.attachments import (
    HeldAttachment,
    Kept,
    held_attachments,
    keep,
    settle_checkpoints,
)
from headgate.stores.closing import lock_mirrors
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
            held = await _held(session, request) if request.attachments else []
            kept = await keep(session, held) if held else Kept(0, 0)
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
            closing = await settle_checkpoints(session, held) if held else 0
            spawned = kept.spawned + closing
            return SettleReport([row[0] for row in refused], spawned, kept.rows)

        # Column names are rarely new; without them, and without attachments, one statement is the
        # whole transaction.
        more = request.columns or request.attachments
        return await (self._server.write if more else self._server.single)(work)

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


async def _held(session: PostgresSession, request: SettleRequest) -> list[HeldAttachment]:
    """The attachments to keep.

    A batch that is sent again because its answer was lost holds no lease any more: nothing of it is
    kept twice.
    """
    await lock_mirrors(session, (each.job_id for each in request.attachments))
    given = (request.worker, request.attachments, request.settlements)
    return await held_attachments(session, *given)
