"""Remove files that are no longer needed."""

import asyncio
import shutil
from pathlib import Path

from headgate.app.data_folder import LOCAL, UPLOAD, DataFolder
from headgate.app.settings import Settings
from headgate.core.status import UNFINISHED
from headgate.ports.clock import Clock
from headgate.ports.reads import JobQuery
from headgate.ports.store import Store
from headgate.transfer.places.local import PART_SUFFIX

DAY_US = 86_400_000_000


class Cleanup:
    """Removes old exports and uploads, and files without a job."""

    EVERY_S = 3_600.0
    FRESH_S = 86_400.0
    """Seconds that a folder without a job stays: its request may still be running."""

    def __init__(self, store: Store, settings: Settings, clock: Clock, folder: DataFolder) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._folder = folder
        self._looked_s = float("-inf")

    async def look(self) -> None:
        """Clean up, once per EVERY_S."""
        now_s = self._clock.monotonic()
        if now_s - self._looked_s < self.EVERY_S:
            return
        self._looked_s = now_s
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
