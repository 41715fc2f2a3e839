"""The file worker process: `python -m headgate.app.processes.file_worker`.

Reading a spreadsheet keeps a core busy, so the API does not do it; and a handler's `gate_of`,
which names the gate of each row, is user code.
"""

import gc

if __name__ == "__main__":
    gc.disable()  # imports leave no garbage; `run_async` enables it again

import asyncio
import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import BinaryIO, Protocol

from headgate.app.data_folder import data_folder
from headgate.app.loops import Loops, Sign
from headgate.app.processes.child_main import LifeSigns, run_child
from headgate.app.processes.cleanup import Cleanup
from headgate.app.processes.control_pipe import watch_parent
from headgate.app.processes.export_writing import ExportWriter
from headgate.app.processes.source_reading import SourceReader
from headgate.app.server_policy import ServerPolicy
from headgate.app.settings import Settings
from headgate.app.telemetry import LogObserver, logger
from headgate.app.wiring import open_store
from headgate.core.errors import HeadgateError
from headgate.engine.clock import SystemClock
from headgate.engine.observed import ObservedStore
from headgate.engine.process import this_host
from headgate.ports.clock import Clock
from headgate.ports.store import Store

FILES = "files"
"""Name of the loop that starts to read sources and to write exports."""
CLEARING = "clearing"
"""Name of the loop that removes old files; it may take long if there are many."""
LOOK_S = 1.0
"""Seconds between two checks without a notification."""
REST_S = 0.2
"""Least seconds between two checks: most notifications are for workers."""


async def serve(settings: Settings, control_pipe: BinaryIO, signs: LifeSigns) -> None:
    """Read sources, write exports and clean up until told to stop."""
    clock = SystemClock()
    folder = data_folder(settings)
    name = f"file-worker-{this_host()}-{secrets.token_hex(4)}"
    stopping = asyncio.Event()
    watch_parent(control_pipe, asyncio.get_running_loop(), stopping.set, stopping.set)
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(_threads(settings.server)))
    observer = LogObserver(settings.log.level)
    async with ObservedStore(open_store(settings), observer, clock) as store:
        reader = SourceReader(store, settings, clock, folder, name)
        writer = ExportWriter(store, settings.server, clock, folder, name)
        clearing = Cleanup(store, settings, clock, folder)
        loops = Loops(clock, signs)
        loops.start(FILES, lambda sign: _files(store, (reader, writer), clock, sign))
        loops.start(CLEARING, lambda sign: _clear(clearing, clock, sign))
        await stopping.wait()
        await loops.stop()
        await reader.stop()
        await writer.stop()


def _threads(policy: ServerPolicy) -> int:
    """Enough for all parallel reads and exports, and some for small tasks."""
    return policy.reads_at_once + policy.exports_at_once + 4


class FileDuty(Protocol):
    """A task that the file worker checks repeatedly."""

    async def look(self) -> None:
        """Start new work, if there is any."""
        ...


async def _files(store: Store, duties: Sequence[FileDuty], clock: Clock, sign: Sign) -> None:
    while True:
        await _run_duties(duties)
        sign()
        await clock.sleep(REST_S)
        with suppress(HeadgateError):  # without notifications, check by time
            await store.notifier.wait(LOOK_S)


async def _clear(clearing: Cleanup, clock: Clock, sign: Sign) -> None:
    while True:
        await _run_duties((clearing,))
        sign()
        await clock.sleep(LOOK_S)


async def _run_duties(duties: Sequence[FileDuty]) -> None:
    for duty in duties:
        try:
            await duty.look()
        except HeadgateError as error:
            logger().warning("the file worker could not check for work", error=str(error))


if __name__ == "__main__":
    run_child(serve)
