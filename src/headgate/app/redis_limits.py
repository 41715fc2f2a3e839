"""A store whose gates are shared elsewhere: on a Redis server."""

from types import TracebackType
from typing import Protocol, Self

from headgate.app.telemetry import logger
from headgate.core.errors import StoreUnreachable
from headgate.ports.limits import LimitLedger
from headgate.ports.store import Store


class OpenLedger(LimitLedger, Protocol):
    """A ledger with connections of its own."""

    async def __aenter__(self) -> Self:
        """Open; StoreUnreachable if nobody is there."""
        ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close every connection."""
        ...


class StoreWithLedger:
    """The store as it is, with other limits."""

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
        """Open both. Without the ledger gates go on with less, so that is no reason to stop."""
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
        """Close both."""
        await self._ledger.__aexit__(kind, error, traceback)
        await self._store.__aexit__(kind, error, traceback)

    async def migrate(self) -> list[str]:
        """Pass on."""
        return await self._store.migrate()

    async def backup(self, target: str) -> None:
        """Pass on."""
        await self._store.backup(target)
