"""The file worker process: `python -m headgate.app.processes.file_worker`.

It reads sources, writes exports and removes files that are no longer needed. Reading a spreadsheet
keeps a core busy, so the API does not do it; and a handler's `gate_of`, which names the gate of
each row, is user code.
"""

import gc

if __name__ == "__main__":
    gc.disable()  # imports leave no garbage; `run_async` enables it again

import asyncio
import secrets
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Protocol

from headgate.app.data_folder import LOCAL, UPLOAD, DataFolder, data_folder
from headgate.app.loops import Loops, Sign
from headgate.app.processes.child_main import LifeSigns, run_child
from headgate.app.processes.control_pipe import watch_parent
from headgate.app.processes.export_writing import ExportWriter
from headgate.app.processes.source_reading import SourceReader
from headgate.app.server_policy import ServerPolicy
from headgate.app.settings import Settings
from headgate.app.telemetry import LogObserver, logger
from headgate.app.wiring import open_store
from headgate.core.errors import HeadgateError
from headgate.core.status import UNFINISHED
from headgate.engine.clock import SystemClock
from headgate.engine.observed import ObservedStore
from headgate.engine.process import this_host
from headgate.ports.clock import Clock
from headgate.ports.reads import JobQuery
from headgate.ports.store import Store
from headgate.transfer.files import PART_SUFFIX

DAY_US = 86_400_000_000


class Cleanup:
    EVERY_S = 3_600.0
    FRESH_S = 86_400.0
    """Seconds that a folder without a job stays: its request may still be running."""

    def __init__(self, store: Store, settings: Settings, clock: Clock, folder: DataFolder) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._folder = folder
        self._checked_s = float("-inf")

    async def check(self) -> None:
        now_s = self._clock.monotonic()
        if now_s - self._checked_s < self.EVERY_S:
            return
        self._checked_s = now_s
        await self.clear()

    async def clear(self) -> None:
        old_us = int(self._settings.server.keep_uploads_days * DAY_US)
        while dropped := await self._store.exports.drop_exports(old_us):
            for record in dropped:
                if record.file:
                    path = self._folder.root / record.file
                    await asyncio.to_thread(path.unlink, missing_ok=True)
        needed = await self._needed(self._clock.now() - old_us)
        await asyncio.to_thread(self._remove_others, needed)

    async def _needed(self, since_us: int) -> set[str]:
        """Names of upload folders, and ids of jobs, whose files stay."""
        needed = {LOCAL}
        after_id = 0
        while jobs := await self._store.reads.jobs(
            JobQuery(after_id=after_id, limit=500, configs=False)
        ):
            for job in jobs:
                if job.state in UNFINISHED or (job.finished_at or 0) > since_us:
                    needed |= {job.source.removeprefix(UPLOAD).partition("/")[0], str(job.id)}
            after_id = jobs[-1].id
        return needed

    def _remove_others(self, needed: set[str]) -> None:
        fresh_s = self._clock.now() / 1_000_000 - self.FRESH_S
        for folder in (self._folder.uploads, self._folder.copies, self._folder.blobs):
            for each in _children(folder):
                if each.name not in needed and each.stat().st_mtime < fresh_s:
                    shutil.rmtree(each, ignore_errors=True)
        for part in self._folder.exports.glob(f"*/.*{PART_SUFFIX}"):
            if part.stat().st_mtime < fresh_s:
                part.unlink(missing_ok=True)


def _children(folder: Path) -> list[Path]:
    return [*folder.iterdir()] if folder.is_dir() else []


FILES = "files"
"""Name of the loop that starts to read sources and to write exports."""
CLEARING = "clearing"
"""Name of the loop that removes old files; it may take long if there are many."""
CHECK_S = 1.0
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
    async def check(self) -> None: ...


async def _files(store: Store, duties: Sequence[FileDuty], clock: Clock, sign: Sign) -> None:
    while True:
        await _run_duties(duties)
        sign()
        await clock.sleep(REST_S)
        with suppress(HeadgateError):  # without notifications, check by time
            await store.notifier.wait(CHECK_S)


async def _clear(clearing: Cleanup, clock: Clock, sign: Sign) -> None:
    while True:
        await _run_duties((clearing,))
        sign()
        await clock.sleep(CHECK_S)


async def _run_duties(duties: Sequence[FileDuty]) -> None:
    for duty in duties:
        try:
            await duty.check()
        except HeadgateError as error:
            logger().warning("the file worker could not check for work", error=str(error))


if __name__ == "__main__":
    run_child(serve)
