"""Sources of new jobs become items: fetched if they lie elsewhere, read, or refused as a whole."""

import asyncio
from contextlib import suppress
from functools import partial
from pathlib import Path

from headgate.app.clerk.holding import HOLD_S, held
from headgate.app.data_folder import UPLOAD, DataFolder
from headgate.app.encoding_words import for_request
from headgate.app.job_files import JobFiles
from headgate.app.reading import reading_in
from headgate.app.settings import Settings
from headgate.app.telemetry import logger
from headgate.core.errors import (
    BadSource,
    CapReached,
    HeadgateError,
    IllegalMove,
    SourceUnreachable,
    UnknownHandler,
    UnknownJob,
    UsageError,
    WrongEncoding,
)
from headgate.core.job import Job
from headgate.core.status import JobMove, JobState
from headgate.engine.ingest import Ingest, IngestPlan
from headgate.handlers.registry import resolve
from headgate.ports.clock import Clock
from headgate.ports.reads import JobQuery
from headgate.ports.source import Source
from headgate.ports.store import Store
from headgate.transfer.blob_sink import StoreSink
from headgate.transfer.inspection import misread_in
from headgate.transfer.places.opening import open_place
from headgate.transfer.renamed import RenamedSource
from headgate.transfer.sources import bytes_in, open_source

READING = frozenset({JobState.INGESTING})
REFUSED = frozenset({JobState.FAILED})


class Reader:
    """Reads what waits to be read, a few sources at a time, each by one process on this store."""

    AT_ONCE = 2
    REST_S = 5.0
    """How long a job is left alone that could not be read because of something on our side."""

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
        self._under_way: dict[int, asyncio.Task[None]] = {}
        self._rests_until_s: dict[int, float] = {}
        self._has_cleaned = False

    async def look(self) -> None:
        """Begin to read what nobody reads yet, oldest first."""
        if not self._has_cleaned:
            await self._finish_refusals()
            self._has_cleaned = True
        query = JobQuery(states=READING, read_by_server=True, limit=1_000)
        waiting = (await self._store.reads.jobs(query))[::-1]
        for job in waiting:
            if len(self._under_way) >= self.AT_ONCE:
                return
            if not self._busy_with(job.id) and await self._hold(job.id):
                task = asyncio.create_task(self._read(job))
                task.add_done_callback(partial(self._done, job.id))
                self._under_way[job.id] = task

    async def stop(self) -> None:
        """Leave off; whoever comes next goes on where the last commit was."""
        for task in self._under_way.values():
            task.cancel()
        if self._under_way:
            await asyncio.wait([*self._under_way.values()])

    def _busy_with(self, job_id: int) -> bool:
        rests_until_s = self._rests_until_s.get(job_id, float("-inf"))
        return job_id in self._under_way or self._clock.monotonic() < rests_until_s

    def _done(self, job_id: int, task: asyncio.Task[None]) -> None:
        self._under_way.pop(job_id, None)
        self._rests_until_s.pop(job_id, None)
        if not task.cancelled() and task.exception() is not None:
            self._rests_until_s[job_id] = self._clock.monotonic() + self.REST_S
            self._has_cleaned = False
            logger().error("a source could not be read", job=job_id, error=repr(task.exception()))

    async def _hold(self, job_id: int) -> bool:
        return await self._store.jobs.elect(f"ingest:{job_id}", self._name, HOLD_S)

    async def _read(self, job: Job) -> None:
        try:
            async with held(partial(self._hold, job.id), self._clock):
                await self._ingest(job)
        except SourceUnreachable as error:
            await self._refuse(job, str(error))
        except (BadSource, CapReached, UnknownHandler, UsageError) as error:
            await self._refuse(job, str(error))
        except OSError as error:
            await self._refuse(job, f"the source cannot be read: {error.strerror or error}")
        except HeadgateError:  # the store, or somebody else who reads it: later
            raise
        except Exception as error:  # noqa: BLE001  a library or the handler's own code, on these rows
            logger().error("a source broke its reader", job=job.id, error=repr(error))
            await self._refuse(job, f"the source cannot be read: {type(error).__name__}: {error}")

    async def _ingest(self, job: Job) -> None:
        found = await asyncio.to_thread(resolve, job.handler, self._settings.handlers)
        spec = found.configured(job.config)
        path = await self._local(job)
        await asyncio.to_thread(self._demand_encoding, job, path)
        bytes_of_job = self._files.space(str(job.id))
        try:
            sink = StoreSink(bytes_of_job, asyncio.get_running_loop())
            plan = IngestPlan(
                job.id,
                await asyncio.to_thread(self._source, job, path, sink),
                spec,
                reading_in(job).on_bad_row,
                open_items_cap=self._settings.server.open_items_per_user,
                file_bytes=await asyncio.to_thread(bytes_in, path, reading_in(job).options.format),
            )
            report = await Ingest(self._store, self._clock, self._settings.ingest).run(plan)
        finally:
            await bytes_of_job.close()
        logger().info("source read", job=job.id, rows=report.rows, bad=report.bad)

    def _source(self, job: Job, path: Path, sink: StoreSink) -> Source:
        reading = reading_in(job)
        source = open_source(path, reading.options, self._settings.limits, sink)
        return RenamedSource(source, reading.columns) if reading.columns else source

    def _demand_encoding(self, job: Job, path: Path) -> None:
        """Refuse text from elsewhere that is not UTF-8 where the request stated no encoding.

        An upload was looked at when it came. A file of a watched folder has no request.
        """
        if job.source.startswith(UPLOAD) or not job.client:
            return
        found = misread_in(path, reading_in(job).options, self._settings.limits)
        if found is not None:
            raise WrongEncoding(for_request(found.fits), found.fits)

    async def _local(self, job: Job) -> Path:
        """Where the source lies on this machine; one from elsewhere is copied first."""
        if job.source.startswith(UPLOAD):
            return self._folder.path_of(job.source)
        target = self._folder.copy_folder(job.id)
        return await asyncio.to_thread(self._fetch, job.source, target)

    def _fetch(self, url: str, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        place = open_place(url, self._settings.places)
        target = folder / place.stat(url).name
        return target if target.exists() else place.fetch(url, target).path

    async def _refuse(self, job: Job, reason: str) -> None:
        """Make the job FAILED and leave nothing of it: nothing was run, nothing stays."""
        reason = self._folder.without_paths(reason)
        logger().warning("source refused", job=job.id, reason=reason)
        with suppress(HeadgateError):  # it may have failed, or ended, already
            await self._store.jobs.move_job(job.id, JobMove.FAIL, reason)
        await self._discard(job.id)
        await asyncio.to_thread(self._folder.remove_copy, job.id)
        await self._store.notifier.ring()

    async def _finish_refusals(self) -> None:
        """Remove items of refused sources where whoever began to do so was cut short."""
        query = JobQuery(states=REFUSED, read_by_server=True, limit=1_000)
        for job in await self._store.reads.jobs(query):
            if not job.ingest_complete and (await self._store.reads.counts(job.id)).total:
                await self._discard(job.id)

    async def _discard(self, job_id: int) -> None:
        with suppress(IllegalMove, UnknownJob):  # somebody brought it back, or deleted it
            while await self._store.jobs.discard_items(job_id):
                pass
