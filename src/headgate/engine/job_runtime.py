"""Jobs as a worker runs them: handler, limits, reuse of results, and the handler's context."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

import msgspec

from headgate.core.call import Call
from headgate.core.errors import (
    HeadgateError,
    IllegalMove,
    UnknownHandler,
    UnknownJob,
    UsageError,
)
from headgate.core.item import ClaimedItem
from headgate.core.job import LOCAL_OWNER, Job
from headgate.core.status import JobMove
from headgate.core.time_text import parse_span
from headgate.engine.policy import WorkerPolicy
from headgate.ports.gate import UNHEARD, Turn, Waits
from headgate.ports.handler import (
    Context,
    Folders,
    HandlerLookup,
    HandlerSpec,
    JobFiles,
    JobView,
    Logger,
)
from headgate.ports.http import Http, HttpOpener
from headgate.ports.items import RecallRequest, ReusedResult
from headgate.ports.store import Store

_Group = tuple[str, float]
"""An owner, and the maximum age of a result in seconds."""


class RecallSource(Protocol):
    async def recall(self, request: RecallRequest) -> list[ReusedResult]:
        """Earlier results under the same digests."""
        ...


class Reuse:
    """Batches the requests of all lanes that ask at the same moment.

    One query per row would cost more than many handlers do.
    """

    def __init__(self, source: RecallSource) -> None:
        self._source = source
        self._asked: dict[_Group, dict[str, asyncio.Future[ReusedResult | None]]] = defaultdict(
            dict
        )
        self._asking: set[asyncio.Task[None]] = set()

    async def find(self, owner: str, digest: str, within_s: float) -> ReusedResult | None:
        group = self._asked[owner, within_s]
        if digest not in group:
            group[digest] = asyncio.get_running_loop().create_future()
        if len(group) == 1:
            task = asyncio.ensure_future(self._recall_group((owner, within_s)))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)
        return await asyncio.shield(group[digest])

    async def _recall_group(self, key: _Group) -> None:
        # A task starts after all that is ready to run, so other lanes have asked as well by now.
        owner, within_s = key
        group = self._asked.pop(key)
        try:
            found = await self._source.recall(RecallRequest(owner, [*group], within_s))
        except Exception as error:  # noqa: BLE001  passed on to each waiting lane
            for waiting in group.values():
                waiting.set_exception(error)
            return
        by_digest = {each.digest: each for each in found}
        for digest, waiting in group.items():
            waiting.set_result(by_digest.get(digest))


class MirrorNames(msgspec.Struct, frozen=True):
    """What rows, follow-up items and closings of a pass may name."""

    streams: frozenset[str]
    checkpoints: frozenset[str]


class JobRuntime(msgspec.Struct, frozen=True):
    job: JobView
    handler: HandlerSpec
    limit_s: float
    reuse_s: float | None = None
    """Maximum age in seconds of an earlier result to reuse; None: reuse is off."""
    mirror: MirrorNames | None = None
    """None: the job is not a pass over a mirror."""


PAGE = 1_000
"""Results of pages that are read at a time."""
REUSE = "reuse"
"""The key in a job's configuration that sets the maximum age of a reused result."""


def reuse_in(config: Mapping[str, Any], handler: HandlerSpec) -> float | None:
    """The maximum age of a result in seconds; UsageError if the setting is not valid."""
    if config.get(REUSE) is None:
        return None
    if not handler.version:
        raise UsageError(
            f"{REUSE}: {handler.name} declares no version, so earlier results cannot be matched to"
            ' it. Write @handler(…, version="1")'
        )
    try:
        return parse_span(str(config[REUSE]))
    except ValueError as error:
        raise UsageError(f"{REUSE}: {error}") from error


class ItemLog:
    """A logger with the facts of its item, which are bound only when something is logged."""

    __slots__ = ("_attempt", "_item", "_log")

    def __init__(self, log: Logger, item: ClaimedItem, attempt: int) -> None:
        self._log = log
        self._item = item
        self._attempt = attempt

    def _fields(self, facts: Mapping[str, object]) -> dict[str, Any]:
        item = self._item
        return {"job": item.job_id, "item": item.id, "attempt": self._attempt, **facts}

    def debug(self, event: str, **facts: object) -> object:
        return self._log.debug(event, **self._fields(facts))

    def info(self, event: str, **facts: object) -> object:
        return self._log.info(event, **self._fields(facts))

    def warning(self, event: str, **facts: object) -> object:
        return self._log.warning(event, **self._fields(facts))

    def error(self, event: str, **facts: object) -> object:
        return self._log.error(event, **self._fields(facts))


class Places(msgspec.Struct, frozen=True):
    files: JobFiles | None = None
    folders: Folders | None = None


class JobRuntimes:
    def __init__(
        self,
        store: Store,
        lookup: HandlerLookup,
        policy: WorkerPolicy,
        log: Logger,
        http: HttpOpener,
        places: Places | None = None,
    ) -> None:
        self._store = store
        self._lookup = lookup
        self._policy = policy
        self._log = log
        self._http = http
        self._places = places or Places()
        self.reuse = Reuse(store.items)
        self._calls: dict[int, list[Call]] = {}
        self._works: dict[int, JobRuntime] = {}
        self.unrunnable: dict[int, str] = {}
        """Jobs whose handler this process cannot load, with the reason."""
        self._warned: set[int] = set()
        self.on_warning: Callable[[str], object] = bool
        """Called with what is wrong with a handler, besides the log and the job's events."""

    def work_of(self, job_id: int) -> JobRuntime:
        return self._works[job_id]

    async def prepare(self, job_id: int) -> JobRuntime | None:
        """Load a job and its handler; None if this process cannot run it."""
        if job_id in self._works:
            return self._works[job_id]
        try:
            job = await self._store.reads.job(job_id)
            spec = self._lookup(job.handler).configured(job.config)
            mirror = await self._mirror_names(job)
            # A page of a pass must bring its rows, which an earlier result does not have.
            reuse_s = None if mirror else reuse_in(job.config, spec)
        except UnknownJob:
            return None
        except UnknownHandler as error:
            self.unrunnable[job_id] = str(error)
            self._log.error("handler cannot be loaded", job=job_id, reason=str(error))
            with suppress(HeadgateError):  # the job's events show it
                message = f"cannot be loaded by a worker: {error}"
                await self._store.jobs.record_event("handler", message, job_id)
            return None
        except UsageError as error:
            # No process can run a job with this configuration, and it will not change.
            await self._fail(job_id, str(error))
            return None
        if spec.provider:
            self._http.declare(spec.provider, spec.limits)
        self._http.adopt(spec.providers)
        view = JobView(job.id, job.name, job.owner, job.config)
        limit_s = spec.timeout_s or self._policy.item_timeout_s
        work = JobRuntime(view, spec, limit_s, reuse_s, mirror)
        self._works[job_id] = work
        return work

    async def _mirror_names(self, job: Job) -> MirrorNames | None:
        if job.mirror_id is None:
            return None
        streams = await self._store.mirrors.streams(job.mirror_id)
        checkpoints = await self._store.mirrors.checkpoints(job.id)
        return MirrorNames(
            frozenset(each.name for each in streams), frozenset(each.name for each in checkpoints)
        )

    async def _pages(self, job_id: int, checkpoint: str) -> AsyncIterator[Mapping[str, Any]]:
        after = 0
        while found := await self._store.mirrors.page_results(job_id, checkpoint, after, PAGE):
            for each in found:
                yield msgspec.json.decode(each.result)
            after = found[-1].item_id

    async def halt(self, job_id: int, reason: str) -> None:
        """Pause a job until a user resumes it: its other items would fail as well."""
        with suppress(HeadgateError):  # already paused, or the store is down: items come back
            await self._store.jobs.move_job(job_id, JobMove.PAUSE, reason)
            self._log.error("job paused", job=job_id, reason=reason)

    async def warn(self, job_id: int, reason: str) -> None:
        """Report what is wrong with the handler of a job, once in each process."""
        if job_id in self._warned:
            return
        self._warned.add(job_id)
        self._log.warning("handler warning", job=job_id, reason=reason)
        self.on_warning(reason)
        with suppress(HeadgateError):  # the job is gone, or the store is down
            await self._store.jobs.record_event("handler_warning", reason, job_id)

    async def _fail(self, job_id: int, reason: str) -> None:
        self._log.error("job cannot be run as it is configured", job=job_id, reason=reason)
        with suppress(IllegalMove, UnknownJob):  # another process was faster
            await self._store.jobs.move_job(job_id, JobMove.FAIL, reason)

    def context(self, work: JobRuntime, item: ClaimedItem, waits: Waits = UNHEARD) -> Context:
        strategies = work.handler.strategies
        strategy = strategies[min(item.strategy, len(strategies) - 1)] if strategies else None
        attempt = item.attempts + 1
        log = ItemLog(self._log, item, attempt)
        opener = partial(self._open, work, item, waits)
        places = self._places
        files = partial(places.files, work.job) if places.files else None
        return Context(
            work.job,
            attempt,
            strategy,
            log,
            opener,
            _files=files,
            _folders=places.folders,
            _pages=partial(self._pages, work.job.id),
        )

    def _open(self, work: JobRuntime, item: ClaimedItem, waits: Waits) -> Http:
        calls = self._calls.setdefault(item.id, [])
        handler, owner = work.handler, work.job.owner
        for_user = handler.described and owner != LOCAL_OWNER
        return self._http(
            Turn(owner, work.job.id, waits, item.attempts > 0, item.elsewhere, for_user),
            handler.provider or "",
            calls.append,
            guarded=handler.guarded or for_user,
            blocking=not handler.is_async,
        )

    def take_calls(self, item_id: int) -> list[Call] | None:
        """The calls of an attempt until now; None if it made none."""
        return self._calls.pop(item_id, None)
