"""A store whose gates are shared through a Redis server."""

from types import TracebackType
from typing import Protocol, Self

from headgate.app.telemetry import logger
from headgate.core.errors import StoreUnreachable
from headgate.ports.limits import LimitLedger
from headgate.ports.store import Store


class OpenLedger(LimitLedger, Protocol):
    """A ledger with its own connections."""

    async def __aenter__(self) -> Self:
        """Connect; raises StoreUnreachable."""
        ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...


class StoreWithLedger:
    """A store with its limits replaced by another ledger."""

    def __init__(self, store: Store, ledger: OpenLedger) -> None:
        self._store = store
        self._ledger = ledger
        self.items = store.items
        self.jobs = store.jobs
        self.reads = store.reads
        self.rows = store.rows
        self.history = store.history
        self.situations = store.situations
        self.access = store.access
        self.logins = store.logins
        self.exports = store.exports
        self.notifier = store.notifier
        self.limits: LimitLedger = ledger

    async def __aenter__(self) -> Self:
        """Open both. Gates work without the ledger, with smaller shares: its failure only warns."""
        await self._store.__aenter__()
        try:
            await self._ledger.__aenter__()
        except StoreUnreachable as error:
            logger().warning("gates.ledger_unreachable", error=str(error))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._ledger.__aexit__(kind, error, traceback)
        await self._store.__aexit__(kind, error, traceback)

    async def migrate(self) -> list[str]:
        return await self._store.migrate()

    async def backup(self, target: str) -> None:
        await self._store.backup(target)
