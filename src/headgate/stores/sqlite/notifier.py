"""Notifications on SQLite: the file itself shows that another process has written."""

import asyncio
from collections.abc import Awaitable, Callable

from headgate.stores.sqlite.connection import SqliteDatabase


async def poll(is_news: Callable[[], Awaitable[bool]], step_s: float, timeout_s: float) -> bool:
    """Ask every `step_s` seconds; False if the answer was never yes."""
    loop = asyncio.get_running_loop()
    give_up_at = loop.time() + timeout_s
    while not await is_news():
        left = give_up_at - loop.time()
        if left <= 0:
            return False
        await asyncio.sleep(min(step_s, left))  # noqa: TID251  polls a file, not the clock
    return True


class SqliteNotifier:
    """Watches the data version, which every commit changes."""

    STEP_S = 0.05

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._seen: int | None = None
        self._rung = asyncio.Event()

    async def ring(self) -> None:
        """Wake the waiter of this process; for the others, the commit is the notification."""
        self._rung.set()

    async def wait(self, timeout_s: float) -> bool:
        """Rung here, or written by another process: the first of both."""
        rung = asyncio.ensure_future(self._rung.wait())
        polled = asyncio.ensure_future(poll(self._has_changed, self.STEP_S, timeout_s))
        try:
            await asyncio.wait([rung, polled], return_when=asyncio.FIRST_COMPLETED)
            if rung.done():
                self._rung.clear()
                return True
            return await polled
        finally:
            rung.cancel()
            polled.cancel()

    async def _has_changed(self) -> bool:
        version = await self._database.data_version()
        changed, self._seen = version != self._seen, version
        return changed
