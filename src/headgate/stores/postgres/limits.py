"""The shared limits on PostgreSQL: one statement swaps many gates, on the server's clock."""

import asyncio
from collections.abc import Sequence
from typing import Any

from headgate.ports.limits import Exchange, LedgerEntry, Proposal
from headgate.stores.ledger import KeptEntry, exchange_of, in_order, keys_named, tickets
from headgate.stores.postgres.connection import PostgresDatabase, PostgresSession
from headgate.stores.postgres.notifier import PostgresNotifier


class PostgresLimits:
    """A LimitLedger in the store's own database; its notifier sends urgent changes."""

    STEP_S = 0.25
    """Seconds between checks for an urgent change if LISTEN cannot be used."""

    def __init__(self, database: PostgresDatabase, notifier: PostgresNotifier) -> None:
        self._database = database
        self._notifier = notifier
        self._tickets = tickets(notifier.sender)
        self._seen: int | None = None

    async def exchange(self, proposals: Sequence[Proposal], keys: Sequence[str]) -> Exchange:
        """Accept proposals that are not outdated, all at one moment, and return every key named.

        Refused keys are read by a separate statement: only a later one is sure to see the change
        that came first.
        """
        ticket = next(self._tickets)
        named = keys_named(proposals, keys)
        values = self._swap_values(in_order(proposals), ticket)

        async def work(session: PostgresSession) -> Exchange:
            rows = await session.rows("swap_gates", **values) if proposals else []
            swapped = {row[1] for row in rows}
            rest = [key for key in named if key not in swapped]
            if rest or not rows:
                rows += await session.rows("gates", keys=rest)
            now = max(row[0] for row in rows)
            kept = [KeptEntry(*row[1:5]) for row in rows if row[1] is not None]
            return exchange_of(now, named, kept, ticket)

        return await self._database.single(work)

    async def entries(self, prefix: str = "") -> Sequence[LedgerEntry]:
        rows = await self._database.single(
            lambda session: session.rows("gates_under", prefix=prefix)
        )
        return [LedgerEntry(*row) for row in rows]

    async def forget(self, key: str) -> bool:
        values = {"key": key, "ticket": next(self._tickets), **self._ringing}
        return bool(
            await self._database.single(lambda session: session.rows("forget_gate", **values))
        )

    async def wait_urgent(self, timeout_s: float) -> bool:
        if self._notifier.is_heard:
            return await self._notifier.wait_urgent(timeout_s)
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + timeout_s
        while not await self._is_urgent():
            left = give_up_at - loop.time()
            if left <= 0:
                return False
            await asyncio.sleep(min(self.STEP_S, left))  # noqa: TID251  polls a server, not time
        return True

    @property
    def _ringing(self) -> dict[str, Any]:
        return {"sender": self._notifier.sender, "notify": self._notifier.is_heard}

    def _swap_values(self, proposals: Sequence[Proposal], ticket: str) -> dict[str, Any]:
        return {
            "keys": [each.key for each in proposals],
            "versions": [each.version for each in proposals],
            "states": [each.state for each in proposals],
            "urgent": [each.urgent for each in proposals],
            "ticket": ticket,
            **self._ringing,
        }

    async def _is_urgent(self) -> bool:
        first, seen = self._seen is None, self._seen or 0
        values = {"seen": seen, "sender": self._notifier.sender}
        rows = await self._database.single(lambda each: each.rows("urgent_since", **values))
        newest = rows[0][0]
        self._seen = newest or seen
        return first or newest is not None
