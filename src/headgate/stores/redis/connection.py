"""Connections to the server, with retries while it is away."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from redis import exceptions
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from headgate.core.errors import BadSetting, StoreError, StoreFull, StoreUnreachable

Answer = TypeVar("Answer")
REFUSED = (exceptions.AuthenticationError, exceptions.AuthorizationError)
LOST = (exceptions.ConnectionError, exceptions.TimeoutError, exceptions.ReadOnlyError)
"""The server is away, or is about to hand over to another."""


class RedisConnection:
    """Opens connections and runs calls on them; every wait is bounded."""

    CONNECTIONS = 4
    ANSWER_S = 5.0
    FIRST_PAUSE_S = 0.02
    LONGEST_PAUSE_S = 0.5

    def __init__(self, url: str, *, patience_s: float) -> None:
        self._patience_s = patience_s
        try:
            pool = BlockingConnectionPool.from_url(
                url,
                max_connections=self.CONNECTIONS,
                timeout=self.ANSWER_S,
                socket_timeout=self.ANSWER_S,
                socket_connect_timeout=self.ANSWER_S,
                decode_responses=True,
                protocol=2,
                client_name="headgate",
                # Retries are made here, where they are bounded and end with a clear error.
                retry=Retry(NoBackoff(), 0),
            )
        except ValueError as error:
            raise BadSetting(f"this URL does not name a ledger: {error}") from error
        self.shown = _shown(pool.connection_kwargs)
        self.client: Redis = Redis.from_pool(pool)

    async def open(self) -> None:
        try:
            await self.client.ping()
        except REFUSED as error:
            raise StoreError(f"{self.shown}: {error}") from error
        except LOST as error:
            raise self._unreachable(error) from error

    async def close(self) -> None:
        await self.client.aclose()

    async def patiently(self, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """Retry through a restart of the server; raise errors that users can act on."""
        give_up_at = time.monotonic() + self._patience_s
        pause_s = self.FIRST_PAUSE_S
        while True:
            try:
                return await work()
            except REFUSED as error:
                raise StoreError(f"{self.shown}: {error}") from error
            except LOST as error:
                if time.monotonic() + pause_s > give_up_at:
                    raise self._unreachable(error) from error
            except exceptions.OutOfMemoryError as error:
                raise StoreFull(f"no memory left in {self.shown}: raise its maxmemory") from error
            except exceptions.RedisError as error:
                raise StoreError(f"{self.shown}: {error}") from error
            await asyncio.sleep(pause_s)  # noqa: TID251  waits for a server, not for a time
            pause_s = min(pause_s * 2, self.LONGEST_PAUSE_S)

    def _unreachable(self, error: Exception) -> StoreUnreachable:
        return StoreUnreachable(f"{self.shown} does not answer: {error}")


def _shown(options: dict[str, Any]) -> str:
    """The address without the password."""
    if "path" in options:
        return f"unix://{options['path']}"
    host, port = options.get("host", "localhost"), options.get("port", 6379)
    return f"redis://{host}:{port}/{options.get('db', 0)}"
