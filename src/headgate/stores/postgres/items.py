"""Items on PostgreSQL, the hot path: a whole batch is one statement and one round trip."""

import asyncio
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

from headgate.core.errors import IllegalMove
from headgate.core.item import ClaimedItem, NewItem
from headgate.core.status import OPEN, ItemMove, ItemStatus, JobState, item_after
from headgate.ports.items import (
    ClaimRequest,
    EnqueueReport,
    EnqueueRequest,
    GateFilter,
    HeldLease,
    OverdueLease,
    RecallRequest,
    RequeueRequest,
    ReusedResult,
    ReviewDecision,
    SettleReport,
    SettleRequest,
    SweptItems,
)
from headgate.stores.postgres.connection import PostgresDatabase, PostgresSession
from headgate.stores.postgres.enqueue import Enqueue
from headgate.stores.postgres.item_changes import decide, requeue, would_requeue
from headgate.stores.postgres.literals import (
    number_array,
    pack_rows,
    settlement_arrays,
    text_array,
)
from headgate.stores.postgres.records import SHARDS, add_counts

MICROSECONDS = 1_000_000


async def return_leases(session: PostgresSession, worker: str) -> int:
    returned = await session.rows("return_leases", worker=worker)
    await _count_returned(session, returned)
    return len(returned)


class PostgresItems:
    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._claiming = asyncio.Lock()
        self._delivered: dict[str, int] = {}

    def pack(self, items: Sequence[NewItem]) -> list[bytes]:
        """The rows in COPY format, without the columns that only the transaction knows."""
        return pack_rows(items)

    async def enqueue_many(self, request: EnqueueRequest) -> EnqueueReport:
        return await Enqueue(self._database, request, add_counts).run()

    async def claim(self, request: ClaimRequest) -> list[ClaimedItem]:
        gates = None if request.suspects or request.ids is not None else request.gates

        async def work(session: PostgresSession) -> list[tuple[Any, ...]]:
            if session.again and (lost := await self._undelivered(session, request)):
                return lost
            return await session.rows(
                "claim" if gates is None else "claim_by_gate",
                job_id=request.job_id,
                worker=request.worker,
                limit=request.limit,
                lease_us=int(request.lease_s * MICROSECONDS),
                shard=_shard(request.worker),
                # Suspects are leased by due time alone.
                retries=0 if request.suspects else min(request.retries, request.limit),
                **(
                    _row_filter(request, await _first(session, request))
                    if gates is None
                    else _gate_filter(request, gates)
                ),
            )

        # One at a time: the last claim that arrived then shows which leases of a lost answer did
        # not.
        async with self._claiming:
            rows = await self._database.single(work)
            if rows:
                self._delivered[request.worker] = rows[0][-1]
        return [ClaimedItem(*row[:-1]) for row in rows]

    async def settle_many(self, request: SettleRequest) -> SettleReport:
        arrays = settlement_arrays(request.settlements) if request.settlements else None

        async def work(session: PostgresSession) -> SettleReport:
            refused: list[tuple[Any, ...]] = []
            if arrays is not None:
                refused = await session.rows(
                    "settle_items",
                    worker=request.worker,
                    shard=_shard(request.worker),
                    again=session.again,
                    **arrays,
                )
            for columns in request.columns:
                names = text_array(columns.names)
                await session.change("insert_columns", job_id=columns.job_id, names=names)
            return SettleReport([row[0] for row in refused])

        # Column names are rarely new; without them one statement is the whole transaction.
        return await (self._database.write if request.columns else self._database.single)(work)

    async def release(self, worker: str, held: Sequence[HeldLease]) -> int:
        async def work(session: PostgresSession) -> int:
            returned = await session.rows(
                "release_items",
                worker=worker,
                ids=number_array([each.item_id for each in held]),
                epochs=number_array([each.epoch for each in held]),
            )
            await _count_returned(session, returned)
            return len(returned)

        return await self._database.write(work)

    async def extend(self, worker: str, held: Sequence[HeldLease], lease_s: float) -> int:
        async def work(session: PostgresSession) -> int:
            extended = await session.rows(
                "extend_leases",
                worker=worker,
                ids=number_array([each.item_id for each in held]),
                epochs=number_array([each.epoch for each in held]),
                lease_us=int(lease_s * MICROSECONDS),
            )
            return len(extended)

        return await self._database.single(work)

    async def leases_of(self, worker: str) -> list[ClaimedItem]:
        rows = await self._database.single(lambda session: session.rows("leases_of", worker=worker))
        return [ClaimedItem(*row) for row in rows]

    async def overdue(self, limit: int) -> list[OverdueLease]:
        rows = await self._database.single(lambda session: session.rows("overdue", limit=limit))
        return [OverdueLease(*row) for row in rows]

    async def requeue(self, request: RequeueRequest) -> SweptItems:
        for status in request.statuses:
            item_after(ItemMove.REQUEUE, status)
        return await self._database.write(lambda session: requeue(session, request))

    async def would_requeue(self, request: RequeueRequest) -> SweptItems:
        return await self._database.single(lambda session: would_requeue(session, request))

    async def decide(self, decision: ReviewDecision) -> None:
        await self._database.write(lambda session: decide(session, decision))

    async def recall(self, request: RecallRequest) -> list[ReusedResult]:
        values = {
            "owner": request.owner,
            "digests": text_array(request.digests),
            "within_us": int(request.within_s * MICROSECONDS),
        }
        rows = await self._database.single(lambda session: session.rows("recall", **values))
        return [ReusedResult(*row) for row in rows]

    async def cancel_items(self, job_id: int, limit: int = 5_000) -> int:
        return await self._database.write(lambda session: _cancel(session, job_id, limit))

    async def _undelivered(
        self, session: PostgresSession, request: ClaimRequest
    ) -> list[tuple[Any, ...]]:
        return await session.rows(
            "undelivered",
            worker=request.worker,
            job_id=request.job_id,
            delivered=self._delivered.get(request.worker, 0),
        )


async def _first(session: PostgresSession, request: ClaimRequest) -> int:
    if not request.skipped:
        return 0
    rows = await session.rows("fresh_after", job_id=request.job_id, skipped=request.skipped)
    return int(rows[0][0]) if rows else 0


def _row_filter(request: ClaimRequest, first: int) -> dict[str, object]:
    ids = None if request.ids is None else number_array(request.ids)
    return {"suspects": request.suspects, "ids": ids, "first": first}


def _gate_filter(request: ClaimRequest, gates: GateFilter) -> dict[str, object]:
    return {
        "closed": text_array(gates.closed),
        "after": gates.after,
        "gate_limit": request.GATES,
        "ungated": request.UNGATED,
    }


def _shard(worker: str) -> int:
    return zlib.crc32(worker.encode()) % SHARDS


async def _count_returned(session: PostgresSession, returned: Sequence[tuple[Any, ...]]) -> None:
    changes = []
    for job_id, n in Counter(row[0] for row in returned).items():
        changes += [(job_id, ItemStatus.PROCESSING, -n), (job_id, ItemStatus.PENDING, n)]
    await add_counts(session, changes)


async def _cancel(session: PostgresSession, job_id: int, limit: int) -> int:
    # The job's row is not locked: a concurrent first claim locks items before it.
    job = await session.record("job", job_id=job_id)
    if job is None:
        return 0
    if job["state"] != JobState.CANCELLED:
        raise IllegalMove(
            f"job {job_id} is {job['state']}: only items of a cancelled job can be cancelled"
        )
    found = await session.rows(
        "select_open", job_id=job_id, statuses=text_array(sorted(OPEN)), limit=limit
    )
    if found:
        ids = number_array([row[0] for row in found])
        await session.change("insert_cancelled_attempts", job_id=job_id, ids=ids)
        await session.change("cancel_items", job_id=job_id, ids=ids)
        left = Counter(row[1] for row in found)
        changes = [(job_id, status, -n) for status, n in left.items()]
        await add_counts(session, [*changes, (job_id, ItemStatus.CANCELLED, len(found))])
    return len(found)
