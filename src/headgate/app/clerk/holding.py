"""How a clerk says that something is its own, for as long as it works on it and not much longer."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from headgate.app.telemetry import logger
from headgate.core.errors import HeadgateError
from headgate.ports.clock import Clock

HOLD_S = 10.0
"""How long it stays ours after we fell silent: so long nobody takes over from a clerk that died."""
RENEW_S = 2.5


@asynccontextmanager
async def held(hold: Callable[[], Awaitable[object]], clock: Clock) -> AsyncIterator[None]:
    """Take hold of it again and again."""
    task = asyncio.create_task(_renew(hold, clock))
    try:
        yield
    finally:
        task.cancel()


async def _renew(hold: Callable[[], Awaitable[object]], clock: Clock) -> None:
    while True:
        await clock.sleep(RENEW_S)
        try:
            await hold()
        except HeadgateError:
            continue
        except Exception as error:  # noqa: BLE001  what is held must not be lost by it
            logger().warning("a hold could not be renewed", error=repr(error))
