"""The shared limits on SQLite: one table, changed under the file's one write lock."""

import secrets
from collections.abc import Sequence

from headgate.ports.limits import Exchange, LedgerEntry, Proposal
from headgate.stores.ledger import KeptEntry, exchange_of, in_order, keys_named, tickets
from headgate.stores.rows import as_json
from headgate.stores.sqlite.connection import SqliteDatabase
from headgate.stores.sqlite.notifier import poll
from headgate.stores.sqlite.transaction import SqliteTransaction


class SqliteLimits:
    """A LimitLedger on the store's own file and clock."""

    STEP_S = 0.1
    """Seconds between checks for an urgent change: a file cannot notify."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._sender = secrets.token_hex(8)
        self._tickets = tickets(self._sender)
        self._version: int | None = None
        self._seen: int | None = None

    async def exchange(self, proposals: Sequence[Proposal], keys: Sequence[str]) -> Exchange:
        """Accept proposals that are not outdated, all at one moment, and return every key named.

        Without a proposal this only reads, and waits for no writer.
        """
        ticket = next(self._tickets)
        named = keys_named(proposals, keys)

        def work(tx: SqliteTransaction) -> Exchange:
            if proposals:
                batch = as_json(in_order(proposals))
                tx.change("swap_gates", proposals=batch, ticket=ticket, sender=self._sender)
            kept = map(KeptEntry._make, tx.rows("gates", keys=as_json(named)))
            return exchange_of(tx.now, named, kept, ticket)

        return await (self._database.write(work) if proposals else self._database.read(work))

    async def entries(self, prefix: str = "") -> Sequence[LedgerEntry]:
        rows = await self._database.read(lambda tx: tx.rows("gates_under", prefix=prefix))
        return [LedgerEntry(*row) for row in rows]

    async def forget(self, key: str) -> bool:
        values = {"key": key, "ticket": next(self._tickets), "sender": self._sender}
        return bool(await self._database.write(lambda tx: tx.change("forget_gate", **values)))

    async def wait_urgent(self, timeout_s: float) -> bool:
        return await poll(self._is_urgent, self.STEP_S, timeout_s)

    async def _is_urgent(self) -> bool:
        version = await self._database.data_version()
        if version == self._version:
            return False
        self._version = version
        first, seen = self._seen is None, self._seen or 0
        values = {"seen": seen, "sender": self._sender}
        newest = (await self._database.read(lambda tx: tx.rows("urgent_since", **values)))[0][0]
        self._seen = newest or seen
        return first or newest is not None
