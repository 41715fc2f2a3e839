"""Leases due items: one statement, over all or gate by gate."""

import asyncio
import zlib
from typing import Any

from headgate.core.item import ClaimedItem
from headgate.ports.items import ClaimRequest, GateFilter
from headgate.stores.postgres.connection import SHARDS, PostgresDatabase, PostgresSession
from headgate.stores.rows import MICROSECONDS


class Claims:
    """Claims one at a time, so that leases whose answer was lost are found again."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._claiming = asyncio.Lock()
        self._delivered: dict[str, int] = {}

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
                shard=shard_of(request.worker),
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
    ids = None if request.ids is None else list(request.ids)
    return {"suspects": request.suspects, "ids": ids, "first": first}


def _gate_filter(request: ClaimRequest, gates: GateFilter) -> dict[str, object]:
    return {
        "closed": list(gates.closed),
        "after": gates.after,
        "gate_limit": request.GATES,
        "ungated": request.UNGATED,
    }


def shard_of(worker: str) -> int:
    return zlib.crc32(worker.encode()) % SHARDS
