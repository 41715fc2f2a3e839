"""The clerk in a process of its own: `python -m headgate.app.clerk_process`.

Reading a spreadsheet keeps a core busy, so the API does not do it; and a handler's `gate_of`, which
names the gate of each row, is the user's own code.
"""

import asyncio
import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, BinaryIO, Protocol

from headgate.app.clerk.clearing import Clearing
from headgate.app.clerk.reading import Reader
from headgate.app.clerk.writing import Writer
from headgate.app.data_folder import data_folder
from headgate.app.employment import work_as
from headgate.app.leash import watch_leash
from headgate.app.server_policy import ServerPolicy
from headgate.app.settings import Settings
from headgate.app.telemetry import LogObserver, logger
from headgate.app.wiring import open_store
from headgate.core.errors import HeadgateError
from headgate.engine.clock import SystemClock
from headgate.engine.observed import ObservedStore
from headgate.engine.process import this_host
from headgate.ports.store import Store

LOOK_S = 1.0
"""How often to look when no bell rings."""
REST_S = 0.2
"""How long to rest between two looks, however often it rings: most rings are for workers."""


async def serve(settings: Settings, leash: BinaryIO) -> None:
    """Do what is asked for until told to stop."""
    clock = SystemClock()
    folder = data_folder(settings)
    name = f"clerk-{this_host()}-{secrets.token_hex(4)}"
    stopping = asyncio.Event()
    watch_leash(leash, asyncio.get_running_loop(), stopping.set, stopping.set)
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(_threads(settings.server)))
    observer = LogObserver(settings.log.level)
    async with ObservedStore(open_store(settings), observer, clock) as store:
        reader = Reader(store, settings, clock, folder, name)
        writer = Writer(store, settings.server, clock, folder, name)
        clearing = Clearing(store, settings, clock, folder)
        stop = asyncio.ensure_future(stopping.wait())
        while not stopping.is_set():
            await _look((reader, writer, clearing))
            await asyncio.wait([stop], timeout=REST_S)
            await _bell(store, stop)
        await reader.stop()
        await writer.stop()


def _threads(policy: ServerPolicy) -> int:
    """Enough for all that reads and writes at once, and some for small things beside it."""
    return policy.reads_at_once + policy.exports_at_once + 4


class Duty(Protocol):
    """Something that the clerk does."""

    async def look(self) -> None:
        """See whether there is something to do, and begin it."""
        ...


async def _look(duties: Sequence[Duty]) -> None:
    for duty in duties:
        try:
            await duty.look()
        except HeadgateError as error:
            logger().warning("the clerk could not look", error=str(error))


async def _bell(store: Store, stop: "asyncio.Future[Any]") -> None:
    """Wait for the bell, for the word to stop, or for a while."""
    bell = asyncio.ensure_future(store.notifier.wait(LOOK_S))
    await asyncio.wait([stop, bell], return_when=asyncio.FIRST_COMPLETED)
    bell.cancel()
    with suppress(asyncio.CancelledError, HeadgateError):  # without a bell, time alone tells
        await bell


if __name__ == "__main__":
    work_as(serve)
