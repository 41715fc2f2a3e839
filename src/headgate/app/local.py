"""The service interface of `app/service.py` on an open store, for the commands."""

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from headgate.app.handler_finder import handler_wait, item_wait
from headgate.app.mirror_reads import MirrorReads
from headgate.app.output_check import require_output
from headgate.app.providers import SECTION
from headgate.app.schema_values import (
    error_group_view,
    event_view,
    gate_list,
    item_view,
    item_whole,
    job_response,
    page_view,
    wait_view,
    why_view,
    worker_view,
)
from headgate.app.service import SHOWN_EVENTS, JobOverview, QueueWrite
from headgate.app.settings import Loaded
from headgate.core.errors import UnknownHandler, UsageError
from headgate.core.gates.config import GateLimits
from headgate.core.gates.keys import find_gates, keys_of_provider
from headgate.core.gates.wait import Wait
from headgate.core.job import Job
from headgate.core.provider import ProviderPolicy
from headgate.core.rate import parse_limits
from headgate.core.retry import RetryPolicy
from headgate.core.sizing import IngestPolicy, IngestSizer
from headgate.core.waiting import is_at_work
from headgate.engine.export import Export, ExportReport
from headgate.engine.export_check import ExportCheck, ExportCheckReport
from headgate.engine.gate_control import GateControl, JobGates, read_gates
from headgate.engine.job_control import DeadLetters, JobControl, ReplaySelection
from headgate.engine.queues import QueueRow, Queues, QueueWriter, names_in_queue
from headgate.engine.rows import GateOf
from headgate.engine.why import limit_from_facts, read_gates_or_none, wait_of_item
from headgate.handlers.registry import resolve
from headgate.ports.clock import Clock
from headgate.ports.items import RequeueRequest, ReviewDecision
from headgate.ports.limits import Exchange, LedgerEntry, LimitLedger, Proposal
from headgate.ports.reads import (
    AttemptRow,
    EventQuery,
    ItemDetail,
    ItemQuery,
    JobQuery,
    ReadStore,
)
from headgate.ports.store import Store
from headgate.schema.gates import GateList
from headgate.schema.items import ItemView, ItemWhole, Replayed, Why
from headgate.schema.jobs import FedView, JobResponse
from headgate.schema.system import WorkerView
from headgate.schema.values import Page
from headgate.transfer.sources import WriteOptions, open_writer, open_written


class NothingLearned:
    """Ledger for a store that does not exist yet: every gate has its declared limits."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def exchange(self, proposals: Sequence[Proposal], keys: Sequence[str]) -> Exchange:
        named = [*(proposal.key for proposal in proposals), *keys]
        entries = [LedgerEntry(key, 0, "") for key in dict.fromkeys(named)]
        return Exchange(self._clock.now() / 1_000_000, entries, frozenset())

    async def entries(self, prefix: str = "") -> Sequence[LedgerEntry]:  # noqa: ARG002
        return []


class DeclaredGates:
    def __init__(self, ledger: LimitLedger | NothingLearned, loaded: Loaded) -> None:
        settings = loaded.settings
        self._loaded = loaded
        self._providers = settings.providers
        self._ledger = ledger
        self._limits = settings.gate_limits

    async def ls(self, *, everything: bool) -> GateList:
        named = self._providers if everything else _declared(self._loaded)
        keys = [key for name in named for key in keys_of_provider(name, named[name])]
        return await self._read(list(dict.fromkeys([*await self._known(), *keys])))

    async def show(self, name: str) -> GateList:
        return await self._read(await self._keys_of(name))

    async def _known(self) -> list[str]:
        return [entry.key for entry in await self._ledger.entries()]

    async def _keys_of(self, name: str) -> list[str]:
        return find_gates(name, await self._known(), self._providers)

    async def _read(self, keys: Sequence[str]) -> GateList:
        return gate_list(await read_gates(self._ledger, self._limits, keys))


class LocalGates(DeclaredGates):
    def __init__(self, store: Store, loaded: Loaded) -> None:
        super().__init__(store.limits, loaded)
        self._control = GateControl(store, self._limits)

    async def set_rate(self, name: str, rate: str, for_s: float | None) -> GateList:
        per_s = _per_s(rate)
        keys = await self._keys_of(name)
        await self._control.set_rate(keys, per_s, for_s)
        return await self._read(keys)

    async def pause(self, name: str, for_s: float | None) -> GateList:
        keys = await self._keys_of(name)
        await self._control.pause(keys, for_s)
        return await self._read(keys)

    async def resume(self, name: str) -> tuple[list[str], GateList]:
        keys = await self._keys_of(name)
        resumed = await self._control.resume(keys)
        return resumed, await self._read(keys)

    async def learned(self, name: str) -> list[str]:
        known = await self._known()
        return [key for key in await self._keys_of(name) if key in known]

    async def forget(self, keys: Sequence[str]) -> list[str]:
        return await self._control.forget(keys)


def _declared(loaded: Loaded) -> Mapping[str, ProviderPolicy]:
    """The providers that are named in the user's own settings."""
    paths = (path.removeprefix(SECTION) for path in loaded.origins if path.startswith(SECTION))
    names = dict.fromkeys(path.partition(".")[0] for path in paths)
    return {name: loaded.settings.providers[name] for name in names}


def _per_s(text: str) -> float:
    """The tightest of the limits in a text, spread evenly, per second."""
    try:
        limits = parse_limits(text)
    except ValueError as error:
        raise UsageError(f"--rate {error}") from error
    if not limits:
        raise UsageError("--rate is empty: write it as 5/s, 100/min, 2000/day or 1/3s")
    return min(limit.count / limit.seconds for limit in limits)


class LocalQueues:
    def __init__(
        self, store: Store, clock: Clock, ingest: IngestPolicy, handlers: Sequence[str]
    ) -> None:
        self._store = store
        self._clock = clock
        self._ingest = ingest
        self._handlers = handlers
        self._queues = Queues(store)

    async def ls(self) -> list[JobResponse]:
        return [await self._with_counts(job) for job in await self._queues.all()]

    async def get(self, name: str) -> JobResponse:
        return await self._with_counts(await self._queues.get(name))

    async def feed(self, queue_write: QueueWrite, rows: AsyncIterator[QueueRow | None]) -> FedView:
        handler = queue_write.handler
        reference = resolve(handler, self._handlers).reference if handler else None
        job = await self._queues.get_or_make(queue_write.queue, reference, queue_write.key)
        names = names_in_queue(job, queue_write.key, self._gate_of(job))
        feed = QueueWriter(self._store, job.id, names, IngestSizer(self._ingest), self._clock)
        async for row in rows:
            # No more rows are available yet: store the ones that came before.
            await (feed.flush() if row is None else feed.add(row))
        await feed.flush()
        report = feed.report
        return FedView(
            job_id=str(job.id),
            added=report.added,
            known=report.known,
            bad=report.bad,
            problems=report.problems,
        )

    def _gate_of(self, job: Job) -> GateOf | None:
        """The queue handler's gate function; None if the handler cannot be loaded here."""
        try:
            return resolve(job.handler, self._handlers).configured(job.config).gate_of
        except (UnknownHandler, UsageError):
            return None

    async def close(self, name: str) -> JobResponse:
        job = await JobControl(self._store).close((await self._queues.get(name)).id)
        return await self._with_counts(job)

    async def _with_counts(self, job: Job) -> JobResponse:
        return job_response(job, await self._store.reads.counts(job.id))


class LocalExports:
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
    def __init__(self, store: Store, limits: GateLimits) -> None:
        self._store = store
        self._limits = limits

    async def page(self, query: ItemQuery) -> Page[ItemView]:
        if query.job_id is not None:
            job = await self._store.reads.job(query.job_id)
            if query.handler not in {None, job.handler}:
                return Page(items=[])
        return page_view(await self._store.reads.items(query))

    async def by_key(self, key: str, job_id: int | None) -> list[ItemView]:
        return [item_view(row) for row in await self._store.rows.by_key(key, job_id)]

    async def account(self, item_id: int) -> ItemWhole:
        reads = self._store.reads
        detail, attempts = await reads.item(item_id), await reads.attempts(item_id)
        wait = await self._wait(detail, attempts)
        decision = await self._store.rows.decision(item_id)
        return item_whole(detail, attempts, decision, wait_view(wait))

    async def why(self, item_id: int) -> Why:
        reads = self._store.reads
        detail, attempts = await reads.item(item_id), await reads.attempts(item_id)
        wait = await self._wait(detail, attempts)
        return why_view(detail.row, wait)

    async def _wait(self, detail: ItemDetail, attempts: Sequence[AttemptRow]) -> Wait | None:
        job_id = detail.row.job_id
        gates = JobGates(self._store, self._limits, job_id)
        wait = await wait_of_item(self._store, gates, detail, attempts)
        return item_wait(await self._store.reads.job(job_id), wait)

    async def decide(self, decision: ReviewDecision) -> ItemWhole:
        await self._store.items.decide(decision)
        await self._store.notifier.ring()
        return await self.account(decision.item_id)

    async def replay(self, what: ReplaySelection, *, dry_run: bool) -> Replayed:
        done = await DeadLetters(self._store).replay(what, dry_run=dry_run)
        return Replayed(count=done.count, job_ids=[str(job_id) for job_id in done.jobs])


class LocalJobs:
    def __init__(self, store: Store, limits: GateLimits, retry: RetryPolicy) -> None:
        self._store = store
        self._limits = limits
        self._retry = retry
        self._control = JobControl(store)

    async def ls(self, after: int, limit: int) -> list[JobResponse]:
        jobs = await self._store.reads.jobs(JobQuery(after_id=after, limit=limit, configs=False))
        return [await self._with_counts(job) for job in jobs]

    async def get(self, job_id: int) -> JobResponse:
        return await self._with_counts(await self._store.reads.job(job_id))

    async def account(self, job_id: int) -> JobOverview:
        reads = self._store.reads
        job, counts = await reads.job(job_id), await reads.counts(job_id)
        missing = handler_wait(job) if counts.open else None
        newest = EventQuery(job_id, newest_first=True, limit=SHOWN_EVENTS)
        at = await self._store.situations.of(job_id)
        reading = await read_gates_or_none(JobGates(self._store, self._limits, job_id))
        return JobOverview(
            job=job_response(job, counts),
            limit=wait_view(missing or limit_from_facts(job, at, reading).wait),
            at_work=is_at_work(job, at),
            failures=[error_group_view(group) for group in await reads.error_groups(job_id)],
            events=[event_view(row) for row in reversed(await reads.events(newest))],
            handler_problem=missing.why if missing else "",
            options=job.options,
            read_by_server=job.reading is not None,
        )

    async def pause(self, job_id: int) -> JobResponse:
        return await self._with_counts(await self._control.pause(job_id))

    async def resume(self, job_id: int) -> JobResponse:
        return await self._with_counts(await self._control.resume(job_id))

    async def cancel(self, job_id: int) -> JobResponse:
        return await self._with_counts(await self._control.cancel(job_id))

    async def set_priority(self, job_id: int, priority: int) -> JobResponse:
        return await self._with_counts(await self._control.set_priority(job_id, priority))

    async def remove(self, job_id: int) -> None:
        await self._control.remove(job_id)

    async def reprocess(self, request: RequeueRequest, *, dry_run: bool) -> int:
        await self._store.reads.job(request.job_id)
        if not request.reset_attempts and request.ids is None:
            request = replace(request, below_attempts=self._retry.max_attempts_ever)
        control = self._control
        return await (control.would_reprocess if dry_run else control.reprocess)(request)

    async def _with_counts(self, job: Job) -> JobResponse:
        return job_response(job, await self._store.reads.counts(job.id))


class LocalService:
    def __init__(self, store: Store, loaded: Loaded, clock: Clock) -> None:
        settings = loaded.settings
        limits = settings.gate_limits
        self._store = store
        self.jobs = LocalJobs(store, limits, settings.retry)
        self.items = LocalItems(store, limits)
        self.queues = LocalQueues(store, clock, settings.ingest, settings.handlers)
        self.gates = LocalGates(store, loaded)
        self.exports = LocalExports(store.reads, clock)
        self.mirrors = MirrorReads(store, limits)

    async def is_at_work(self, job_ids: Sequence[int]) -> bool:
        found = [await self._store.situations.of(job_id) for job_id in job_ids]
        return all(each.workers for each in found)

    async def workers(self, *, everybody: bool) -> list[WorkerView]:
        rows = await self._store.reads.workers(alive_only=not everybody)
        return [worker_view(row) for row in rows]
