"""The service interface on an open store, for the commands."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from headgate.app.handler_finder import handler_wait, item_wait
from headgate.app.local.gates import LocalGates
from headgate.app.output_check import require_output
from headgate.app.service import (
    SHOWN_EVENTS,
    ItemHistoryView,
    ItemWait,
    JobDetails,
    JobWithCounts,
    QueueWrite,
    QueueWritten,
)
from headgate.app.settings import Loaded
from headgate.core.errors import UnknownHandler, UsageError
from headgate.core.gates.config import GateLimits
from headgate.core.job import Job
from headgate.core.retry import RetryPolicy
from headgate.core.sizing import IngestPolicy, IngestSizer
from headgate.core.waiting import is_at_work
from headgate.core.worker import WorkerRow
from headgate.engine.export import Export, ExportReport
from headgate.engine.export_check import ExportCheck, ExportCheckReport
from headgate.engine.gate_control import JobGates
from headgate.engine.job_control import DeadLetters, JobControl, Replay, Replayed
from headgate.engine.limited_by import limiting, read_if_there, wait_of
from headgate.engine.queues import QueueRow, Queues, QueueWriter, names_in_queue
from headgate.engine.rows import GateOf
from headgate.engine.why import ending_of
from headgate.handlers.registry import resolve
from headgate.ports.clock import Clock
from headgate.ports.items import RequeueRequest, ReviewDecision
from headgate.ports.reads import (
    EventQuery,
    ItemDetail,
    ItemQuery,
    ItemRow,
    JobQuery,
    Page,
    ReadStore,
)
from headgate.ports.store import Store
from headgate.transfer.formats.equality import open_written
from headgate.transfer.sources import WriteOptions, open_writer


class LocalQueues:
    """Implements QueueVerbs."""

    def __init__(
        self, store: Store, clock: Clock, ingest: IngestPolicy, handlers: Sequence[str]
    ) -> None:
        self._store = store
        self._clock = clock
        self._ingest = ingest
        self._handlers = handlers
        self._queues = Queues(store)

    async def ls(self) -> list[JobWithCounts]:
        return [await self._with_counts(job) for job in await self._queues.all()]

    async def get(self, name: str) -> JobWithCounts:
        return await self._with_counts(await self._queues.get(name))

    async def feed(
        self, queue_write: QueueWrite, rows: AsyncIterator[QueueRow | None]
    ) -> QueueWritten:
        handler = queue_write.handler
        reference = resolve(handler, self._handlers).reference if handler else None
        job = await self._queues.get_or_make(queue_write.queue, reference, queue_write.key)
        names = names_in_queue(job, queue_write.key, self._gate_of(job))
        feed = QueueWriter(self._store, job.id, names, IngestSizer(self._ingest), self._clock)
        async for row in rows:
            # No more rows are available yet: store the ones that came before.
            await (feed.flush() if row is None else feed.add(row))
        await feed.flush()
        return QueueWritten(job.id, feed.report)

    def _gate_of(self, job: Job) -> GateOf | None:
        """The queue handler's gate function; None if the handler cannot be loaded here."""
        try:
            return resolve(job.handler, self._handlers).configured(job.config).gate_of
        except (UnknownHandler, UsageError):
            return None

    async def close(self, name: str) -> Job:
        return await JobControl(self._store).close((await self._queues.get(name)).id)

    async def _with_counts(self, job: Job) -> JobWithCounts:
        return JobWithCounts(job, await self._store.reads.counts(job.id))


class LocalExports:
    """Implements ExportVerbs."""

    def __init__(self, reads: ReadStore, clock: Clock) -> None:
        self._reads = reads
        self._clock = clock

    async def write(self, job_id: int, out: Path, options: WriteOptions) -> ExportReport:
        job = await self._reads.job(job_id)
        require_output(out, [Path(job.source)], "FILE")
        return await Export(self._reads, self._clock).run(job_id, open_writer(out, options))

    async def check(self, job_id: int, file: Path, stated: str | None) -> ExportCheckReport:
        parts, form = open_written(file, stated)
        return await ExportCheck(self._reads).check(job_id, parts, form)


class LocalItems:
    """Implements ItemVerbs."""

    def __init__(self, store: Store, limits: GateLimits) -> None:
        self._store = store
        self._limits = limits

    async def page(self, query: ItemQuery) -> Page:
        if query.job_id is not None:
            job = await self._store.reads.job(query.job_id)
            if query.handler not in {None, job.handler}:
                return Page([], None)
        return await self._store.reads.items(query)

    async def by_key(self, key: str, job_id: int | None) -> list[ItemRow]:
        return await self._store.rows.by_key(key, job_id)

    async def account(self, item_id: int) -> ItemHistoryView:
        reads = self._store.reads
        detail = await reads.item(item_id)
        attempts = await reads.attempts(item_id)
        gates = JobGates(self._store, self._limits, detail.row.job_id)
        wait = await wait_of(self._store, gates, detail, attempts)
        wait = item_wait(await reads.job(detail.row.job_id), wait)
        decision = await self._store.rows.decision(item_id)
        return ItemHistoryView(detail, attempts, wait, decision)

    async def why(self, item_id: int) -> ItemWait:
        account = await self.account(item_id)
        row = account.detail.row
        ended, todo = ending_of(row) or ("", "")
        return ItemWait(row.status, account.wait, ended, todo)

    async def decide(self, decision: ReviewDecision) -> ItemDetail:
        await self._store.items.decide(decision)
        await self._store.notifier.ring()
        return await self._store.reads.item(decision.item_id)

    async def replay(self, what: Replay, *, dry_run: bool) -> Replayed:
        return await DeadLetters(self._store).replay(what, dry_run=dry_run)


class LocalJobs:
    """Implements JobVerbs."""

    def __init__(self, store: Store, limits: GateLimits, retry: RetryPolicy) -> None:
        self._store = store
        self._limits = limits
        self._retry = retry
        self._control = JobControl(store)

    async def ls(self, after: int, limit: int) -> list[JobWithCounts]:
        jobs = await self._store.reads.jobs(JobQuery(after_id=after, limit=limit, configs=False))
        return [JobWithCounts(job, await self._store.reads.counts(job.id)) for job in jobs]

    async def get(self, job_id: int) -> JobWithCounts:
        job = await self._store.reads.job(job_id)
        return JobWithCounts(job, await self._store.reads.counts(job_id))

    async def account(self, job_id: int) -> JobDetails:
        reads = self._store.reads
        found = await self.get(job_id)
        missing = handler_wait(found.job) if found.counts.open else None
        newest = EventQuery(job_id, newest_first=True, limit=SHOWN_EVENTS)
        at = await self._store.situations.of(job_id)
        reading = await read_if_there(JobGates(self._store, self._limits, job_id))
        return JobDetails(
            job=found.job,
            counts=found.counts,
            limit=missing or limiting(found.job, at, reading).wait,
            at_work=is_at_work(found.job, at),
            failures=await reads.error_groups(job_id),
            events=(await reads.events(newest))[::-1],
            handler_problem=missing.why if missing else "",
        )

    async def pause(self, job_id: int) -> Job:
        return await self._control.pause(job_id)

    async def resume(self, job_id: int) -> Job:
        return await self._control.resume(job_id)

    async def cancel(self, job_id: int) -> Job:
        return await self._control.cancel(job_id)

    async def set_priority(self, job_id: int, priority: int) -> Job:
        return await self._control.set_priority(job_id, priority)

    async def remove(self, job_id: int) -> None:
        await self._control.remove(job_id)

    async def reprocess(self, request: RequeueRequest, *, dry_run: bool) -> int:
        await self._store.reads.job(request.job_id)
        if not request.reset_attempts and request.ids is None:
            request = replace(request, below_attempts=self._retry.max_attempts_ever)
        control = self._control
        return await (control.would_reprocess if dry_run else control.reprocess)(request)


class LocalService:
    """Implements Service."""

    def __init__(self, store: Store, loaded: Loaded, clock: Clock) -> None:
        settings = loaded.settings
        limits = settings.gate_limits
        self._store = store
        self.jobs = LocalJobs(store, limits, settings.retry)
        self.items = LocalItems(store, limits)
        self.queues = LocalQueues(store, clock, settings.ingest, settings.handlers)
        self.gates = LocalGates(store, loaded)
        self.exports = LocalExports(store.reads, clock)

    async def is_at_work(self, job_ids: Sequence[int]) -> bool:
        """True if each of these jobs has a worker."""
        found = [await self._store.situations.of(job_id) for job_id in job_ids]
        return all(each.workers for each in found)

    async def workers(self, *, everybody: bool) -> list[WorkerRow]:
        return await self._store.reads.workers(alive_only=not everybody)
