"""The embedded store as a whole."""

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from headgate.stores.access import SqlAccess, SqlLogins
from headgate.stores.exports import SqlExports
from headgate.stores.jobs import SqlJobs
from headgate.stores.mirrors import SqlMirrors
from headgate.stores.reads import SqlHistory, SqlRowReads, SqlSituations
from headgate.stores.sqlite.connection import SqliteDatabase, SqliteTransactions, StoreClock
from headgate.stores.sqlite.items import SqliteItems
from headgate.stores.sqlite.limits import SqliteLimits
from headgate.stores.sqlite.notifier import SqliteNotifier
from headgate.stores.sqlite.reads import SqliteReads


class SqliteStore:
    """One file that several processes may share. `now` replaces the clock in tests."""

    def __init__(self, path: str | Path, now: Callable[[], int] | None = None) -> None:
        self._database = SqliteDatabase(Path(path), StoreClock(now))
        shared = SqliteTransactions(self._database)
        self.items = SqliteItems(self._database)
        self.jobs = SqlJobs(shared)
        self.access = SqlAccess(shared)
        self.logins = SqlLogins(shared)
        self.exports = SqlExports(shared)
        self.mirrors = SqlMirrors(shared)
        self.limits = SqliteLimits(self._database)
        self.reads = SqliteReads(self._database)
        self.rows = SqlRowReads(shared)
        self.history = SqlHistory(shared)
        self.situations = SqlSituations(shared)
        self.notifier = SqliteNotifier(self._database)

    async def __aenter__(self) -> Self:
        await self._database.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._database.close()

    async def migrate(self) -> list[str]:
        return await self._database.migrate()

    async def backup(self, target: str) -> None:
        await self._database.backup(Path(target))
