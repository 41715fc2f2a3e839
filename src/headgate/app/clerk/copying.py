"""Sources on other machines are copied to this one before they are read."""

import asyncio
import threading
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from headgate.app.data_folder import DataFolder
from headgate.app.settings import Settings
from headgate.core.job import Job
from headgate.transfer.places.opening import open_place


class Unwanted(Exception):
    """The job of a copy was paused or cancelled, or has ended."""


class Copier:
    """Copies sources, in threads that nothing else uses: a server decides how long one is kept."""

    def __init__(self, settings: Settings, folder: DataFolder) -> None:
        self._settings = settings
        self._folder = folder
        most = settings.server.copies_at_once
        self._threads = ThreadPoolExecutor(most, thread_name_prefix="copy")
        self._under_way: dict[int, threading.Event] = {}
        self._copied: dict[int, Path] = {}

    def copied(self, job_id: int) -> Path | None:
        """The copy of a job's source, once it is complete."""
        return self._copied.get(job_id)

    def keep_only(self, wanted: Collection[int]) -> None:
        """Forget the copies of all other jobs, and end those that are being made."""
        for job_id, ended in self._under_way.items():
            if job_id not in wanted:
                ended.set()
        self._copied = {job: path for job, path in self._copied.items() if job in wanted}

    async def copy(self, job: Job) -> None:
        """Copy a job's source; Unwanted if the copy is not wanted any more."""
        loop = asyncio.get_running_loop()
        ended = self._under_way[job.id] = threading.Event()
        try:
            work = loop.run_in_executor(self._threads, self._fetch, job, ended)
            self._copied[job.id] = await work
        finally:
            ended.set()
            del self._under_way[job.id]

    def _fetch(self, job: Job, ended: threading.Event) -> Path:
        folder = self._folder.copy_folder(job.id)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        place = open_place(job.source, self._settings.places)
        target = folder / place.stat(job.source).name

        def on_progress(_size: int, _total: int | None) -> None:
            if ended.is_set():
                raise Unwanted

        if target.exists():
            return target
        return place.fetch(job.source, target, on_progress=on_progress).path
