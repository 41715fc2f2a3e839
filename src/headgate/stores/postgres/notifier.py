"""Notifications by LISTEN and NOTIFY, as a hint: a process that misses one polls."""

import asyncio
import contextlib
import secrets

import psycopg

from headgate.core.errors import StoreError
from headgate.stores.postgres.connection import PostgresDatabase, PostgresSession

CHANNEL = "headgate"
URGENT = "headgate_gates"


class PostgresNotifier:
    """Notifies every process on the database; listens on its own connection."""

    RETRY_S = 1.0

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self.sender = secrets.token_hex(8)
        self._rung = {channel: asyncio.Event() for channel in (CHANNEL, URGENT)}
        self._closing = asyncio.Event()
        self._listener: asyncio.Task[None] | None = None

    async def ring(self) -> None:
        self._rung[CHANNEL].set()
        if self.is_heard:
            await self._database.single(lambda session: session.rows("ring", sender=self.sender))

    async def wait(self, timeout_s: float) -> bool:
        return await self._wait(CHANNEL, timeout_s)

    async def wait_urgent(self, timeout_s: float) -> bool:
        return await self._wait(URGENT, timeout_s)

    @property
    def is_heard(self) -> bool:
        """True if this database carries notifications."""
        return self._database.address.notify

    async def close(self) -> None:
        self._closing.set()
        if self._listener is not None:
            self._listener.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._listener
            self._listener = None

    async def _wait(self, channel: str, timeout_s: float) -> bool:
        if self._listener is None and self.is_heard:
            self._listener = asyncio.create_task(self._listen())
        rung = self._rung[channel]
        try:
            async with asyncio.timeout(timeout_s):
                await rung.wait()
        except TimeoutError:
            return False
        rung.clear()
        return True

    async def _listen(self) -> None:
        while not self._closing.is_set():
            with contextlib.suppress(StoreError, psycopg.Error):
                await self._receive()
            # Cut off: notifications may have been missed, and the server may be away for a while.
            self._rung[CHANNEL].set()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.RETRY_S):
                    await self._closing.wait()

    async def _receive(self) -> None:
        async with self._database.connect() as connection:
            session = PostgresSession(connection, self._database.queries, again=False)
            await session.change("listen")
            # Urgent changes before this moment have been missed.
            self._rung[URGENT].set()
            async for notice in connection.notifies():
                if notice.payload != self.sender:
                    self._rung[notice.channel].set()
