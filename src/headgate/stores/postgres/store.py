"""The PostgreSQL store as a whole."""

from types import TracebackType
from typing import Self

from headgate.core.errors import UsageError
from headgate.stores.access import SqlAccess, SqlLogins
from headgate.stores.exports import SqlExports
from headgate.stores.jobs import SqlJobs
from headgate.stores.mirrors import SqlMirrors
from headgate.stores.postgres.connection import PostgresDatabase
from headgate.stores.postgres.items import PostgresItems
from headgate.stores.postgres.limits import PostgresLimits
from headgate.stores.postgres.notifier import PostgresNotifier
from headgate.stores.postgres.reads import PostgresReads
from headgate.stores.reads import SqlHistory, SqlRowReads, SqlSituations


class PostgresStore:
    """One database that any number of processes on any number of hosts may share."""

    def __init__(self, url: str, *, patience_s: float = 60.0) -> None:
        self._database = PostgresDatabase(url, patience_s=patience_s)
        self.items = PostgresItems(self._database)
        self.jobs = SqlJobs(self._database)
        self.access = SqlAccess(self._database)
        self.logins = SqlLogins(self._database)
        self.exports = SqlExports(self._database)
        self.mirrors = SqlMirrors(self._database)
        self.reads = PostgresReads(self._database)
        self.rows = SqlRowReads(self._database)
        self.history = SqlHistory(self._database)
        self.situations = SqlSituations(self._database)
        self.notifier = PostgresNotifier(self._database)
        self.limits = PostgresLimits(self._database, self.notifier)

    async def __aenter__(self) -> Self:
        await self._database.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.notifier.close()
        await self._database.close()

    async def migrate(self) -> list[str]:
        return await self._database.migrate()

    async def backup(self, target: str) -> None:
        """Refuse: the server's own tool makes a consistent copy."""
        raise UsageError(
            f"copy a PostgreSQL database with its own tool: "
            f"pg_dump --format=custom --file={target} '{self._database.address.shown}'"
        )
