"""Notifications by Redis publish and subscribe, as a hint: a process that misses one polls."""

import asyncio
import contextlib

from redis.exceptions import RedisError

from headgate.stores.redis.connection import RedisConnection


class RedisNotifier:
    """Listens on its own connection, from the first wait on."""

    RETRY_S = 0.5
    PATIENCE_S = 15.0

    def __init__(self, server: RedisConnection, channel: str, sender: str) -> None:
        self._server = server
        self._channel = channel
        self._sender = sender
        self._rung = asyncio.Event()
        self._closing = asyncio.Event()
        self._listener: asyncio.Task[None] | None = None

    async def wait(self, timeout_s: float) -> bool:
        if self._listener is None:
            self._listener = asyncio.create_task(self._listen())
        try:
            async with asyncio.timeout(timeout_s):
                await self._rung.wait()
        except TimeoutError:
            return False
        self._rung.clear()
        return True

    async def close(self) -> None:
        self._closing.set()
        if self._listener is not None:
            self._listener.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._listener
            self._listener = None

    async def _listen(self) -> None:
        while not self._closing.is_set():
            with contextlib.suppress(RedisError, OSError):
                await self._receive()
            # The server may be away for a while.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.RETRY_S):
                    await self._closing.wait()

    async def _receive(self) -> None:
        async with self._server.client.pubsub() as subscription:
            await subscription.subscribe(self._channel)
            while True:
                notice = await subscription.get_message(timeout=self.PATIENCE_S)
                # The confirmation counts: urgent changes before it have been missed.
                if notice is not None and notice["data"] != self._sender:
                    self._rung.set()
