"""Turn sources of new jobs into items: copy remote ones, then read or refuse them as a whole."""

import asyncio
import threading
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

from headgate.app.data_folder import UPLOAD, DataFolder, JobFiles
from headgate.app.ingest_options import ingest_options_in, request_encoding_message
from headgate.app.processes.background_work import BackgroundWork, Work
from headgate.app.processes.export_writing import HOLD_S, renewed_claim
from headgate.app.settings import Settings
from headgate.app.telemetry import logger
from headgate.core.errors import (
    BadSource,
    CapReached,
    HeadgateError,
    IllegalMove,
    UnknownHandler,
    UnknownJob,
    UsageError,
    WrongEncoding,
)
from headgate.core.fair_turns import Slots
from headgate.core.job import Job
from headgate.core.status import JobMove, JobState
from headgate.engine.ingest import Ingest, IngestPlan
from headgate.handlers.registry import resolve
from headgate.ports.clock import Clock
from headgate.ports.jobs import WaitingSource
from headgate.ports.reads import JobQuery
from headgate.ports.source import Source
from headgate.ports.store import Store
from headgate.transfer.blobs import StoreSink
from headgate.transfer.inspection import misread_in
from headgate.transfer.places.opening import open_place
from headgate.transfer.sources import bytes_in, open_source
from headgate.transfer.wrappers import RenamedSource


class Unwanted(Exception):
    """The job of a copy was paused or cancelled, or has ended."""


class SourceCopier:
    """Copies remote sources in threads of its own: a slow server must not block other work."""

    def __init__(self, settings: Settings, folder: DataFolder) -> None:
        self._settings = settings
        self._folder = folder
        most = settings.server.copies_at_once
        self._threads = ThreadPoolExecutor(most, thread_name_prefix="copy")
        self._under_way: dict[int, threading.Event] = {}
        self._copied: dict[int, Path] = {}

    def copied(self, job_id: int) -> Path | None:
        """The copy of a job's source; None until it is complete."""
        return self._copied.get(job_id)

    def keep_only(self, wanted: Collection[int]) -> None:
        """Forget the copies of all other jobs, and cancel the ones in progress."""
        for job_id, ended in self._under_way.items():
            if job_id not in wanted:
                ended.set()
        self._copied = {job: path for job, path in self._copied.items() if job in wanted}

    async def copy(self, job: Job) -> None:
        """Copy a job's source; raises Unwanted if the copy is no longer needed."""
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


REFUSED = frozenset({JobState.FAILED})


class SourceReader:
    """Copies and reads waiting sources; each source is handled by one process of the store.

    Copies and reads have separate slots, so that a slow copy never delays a local file. Users
    take turns.
    """

    PER_USER = 200
    """Waiting sources of a user that are considered."""
    REST_S = 5.0
    """Seconds to wait before a job is tried again after an error on our side."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Clock,
        folder: DataFolder,
        name: str,
    ) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._folder = folder
        self._files = JobFiles(folder, clock)
        self._name = name
        policy = settings.server
        self._copier = SourceCopier(settings, folder)
        self._copies = BackgroundWork(
            Slots(policy.copies_at_once, policy.copies_per_user), self._done
        )
        self._readings = BackgroundWork(
            Slots(policy.reads_at_once, policy.reads_per_user), self._done
        )
        self._rests_until_s: dict[int, float] = {}
        self._has_cleaned = False

    async def check(self) -> None:
        """Start to copy and to read waiting sources, taking turns among the users."""
        if not self._has_cleaned:
            await self._finish_refusals()
            self._has_cleaned = True
        waiting = await self._store.jobs.sources_to_read(self.PER_USER)
        self._copier.keep_only({each.id for each in waiting})
        idle = [each for each in waiting if not self._busy_with(each.id)]
        here = {each.id for each in idle if self._is_here(each)}
        await self._copies.fill([each for each in idle if each.id not in here], self._to_copy)
        await self._readings.fill([each for each in idle if each.id in here], self._to_read)

    async def stop(self) -> None:
        """Cancel the work; the next process continues after the last commit."""
        await self._copies.stop()
        await self._readings.stop()

    def _busy_with(self, job_id: int) -> bool:
        if job_id in self._copies or job_id in self._readings:
            return True
        return self._clock.monotonic() < self._rests_until_s.get(job_id, float("-inf"))

    def _is_here(self, waiting: WaitingSource) -> bool:
        return waiting.source.startswith(UPLOAD) or self._copier.copied(waiting.id) is not None

    async def _to_copy(self, job_id: int) -> Work | None:
        job = await self._held_job(job_id)
        return self._guarded(job, self._copy) if job else None

    async def _to_read(self, job_id: int) -> Work | None:
        job = await self._held_job(job_id)
        return self._guarded(job, self._ingest) if job else None

    async def _held_job(self, job_id: int) -> Job | None:
        """The job, if this process may work on its source."""
        if not await self._hold(job_id):
            return None
        try:
            return await self._store.reads.job(job_id)
        except UnknownJob:
            return None

    def _done(self, job_id: int, task: asyncio.Task[None]) -> None:
        self._rests_until_s.pop(job_id, None)
        if not task.cancelled() and task.exception() is not None:
            self._rests_until_s[job_id] = self._clock.monotonic() + self.REST_S
            self._has_cleaned = False
            logger().error("a source could not be read", job=job_id, error=repr(task.exception()))

    async def _hold(self, job_id: int) -> bool:
        return await self._store.jobs.elect(f"ingest:{job_id}", self._name, HOLD_S)

    async def _guarded(self, job: Job, work: Callable[[Job], Work]) -> None:
        """Run a step for a job; a source that cannot be used makes the job FAILED."""
        try:
            async with renewed_claim(partial(self._hold, job.id), self._clock):
                await work(job)
        except Unwanted:
            return
        except (BadSource, CapReached, UnknownHandler, UsageError) as error:
            await self._refuse(job, str(error))
        except OSError as error:
            await self._refuse(job, f"the source cannot be read: {error.strerror or error}")
        except HeadgateError:  # the store failed, or another process reads it: retry later
            raise
        except Exception as error:  # noqa: BLE001  any error of a library or of the handler's code
            logger().error("reading a source failed", job=job.id, error=repr(error))
            await self._refuse(job, f"the source cannot be read: {type(error).__name__}: {error}")

    async def _copy(self, job: Job) -> None:
        await self._copier.copy(job)
        await self._store.notifier.ring()  # it is read without delay

    async def _ingest(self, job: Job) -> None:
        found = await asyncio.to_thread(resolve, job.handler, self._settings.handlers)
        spec = found.configured(job.config)
        path = self._copier.copied(job.id) or self._folder.path_of(job.source)
        await asyncio.to_thread(self._require_encoding, job, path)
        bytes_of_job = self._files.space(str(job.id))
        try:
            sink = StoreSink(bytes_of_job, asyncio.get_running_loop())
            plan = IngestPlan(
                job.id,
                await asyncio.to_thread(self._source, job, path, sink),
                spec,
                ingest_options_in(job).on_bad_row,
                open_items_cap=self._settings.server.open_items_per_user,
                leave_if_paused=True,
                file_bytes=await asyncio.to_thread(
                    bytes_in, path, ingest_options_in(job).options.format
                ),
            )
            report = await Ingest(self._store, self._clock, self._settings.ingest).run(plan)
        finally:
            await bytes_of_job.close()
        facts = {"rows": report.rows, "bad": report.bad, "stopped": report.stopped}
        logger().info("source read", job=job.id, **facts)

    def _source(self, job: Job, path: Path, sink: StoreSink) -> Source:
        reading = ingest_options_in(job)
        source = open_source(path, reading.options, self._settings.limits, sink)
        return RenamedSource(source, reading.columns) if reading.columns else source

    def _require_encoding(self, job: Job, path: Path) -> None:
        """Refuse remote text that is not UTF-8 if the request stated no encoding.

        An upload was checked when it arrived. A file of a watched folder has no request.
        """
        if job.source.startswith(UPLOAD) or not job.client:
            return
        found = misread_in(path, ingest_options_in(job).options, self._settings.limits)
        if found is not None:
            raise WrongEncoding(request_encoding_message(found.fits), found.fits)

    async def _refuse(self, job: Job, reason: str) -> None:
        """Make the job FAILED and remove its items and its copy."""
        reason = self._folder.without_paths(reason)
        logger().warning("source refused", job=job.id, reason=reason)
        with suppress(HeadgateError):  # it may have failed or ended already
            await self._store.jobs.move_job(job.id, JobMove.FAIL, reason)
        await self._discard(job.id)
        await asyncio.to_thread(self._folder.remove_copy, job.id)
        await self._store.notifier.ring()

    async def _finish_refusals(self) -> None:
        """Remove items of refused sources if an earlier process was interrupted while doing so."""
        query = JobQuery(states=REFUSED, read_by_server=True, limit=1_000)
        for job in await self._store.reads.jobs(query):
            if not job.ingest_complete and (await self._store.reads.counts(job.id)).total:
                await self._discard(job.id)

    async def _discard(self, job_id: int) -> None:
        with suppress(IllegalMove, UnknownJob):  # a user requeued or deleted it
            while await self._store.jobs.discard_items(job_id):
                pass
