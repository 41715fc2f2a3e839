"""The bell on SQLite: the file itself shows that somebody has written."""

import asyncio

from headgate.stores.sqlite.connection import SqliteDatabase


class SqliteNotifier:
    """Watches the data version, which every commit changes; nothing has to be rung."""

    STEP_S = 0.05

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._seen: int | None = None

    async def ring(self) -> None:
        """Nothing to do: the commit that made the change is the ring."""

    async def wait(self, timeout_s: float) -> bool:
        """Wait for a ring that came since the last wait; False when the time ran out."""
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
