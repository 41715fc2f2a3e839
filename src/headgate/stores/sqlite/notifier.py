"""Notifications on SQLite: the file itself shows that another process has written."""

import asyncio

from headgate.stores.sqlite.connection import SqliteDatabase


class SqliteNotifier:
    """Watches the data version, which every commit changes."""

    STEP_S = 0.05

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._seen: int | None = None

    async def ring(self) -> None:
        """Does nothing: the commit of the change is the notification."""

    async def wait(self, timeout_s: float) -> bool:
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + timeout_s
        while True:
            version = await self._database.data_version()
            if version != self._seen:
                self._seen = version
                return True
            left = give_up_at - loop.time()
            if left <= 0:
                return False
            await asyncio.sleep(min(self.STEP_S, left))  # noqa: TID251  polls a file, not the clock
