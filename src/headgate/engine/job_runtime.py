"""Jobs as a worker sees them: the handler that runs them and what it may know."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
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
from headgate.core.job import LOCAL_OWNER
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
"""An owner, and how many seconds old a result may be."""


class RecallSource(Protocol):
    """The one verb that this needs."""

    async def recall(self, request: RecallRequest) -> list[ReusedResult]:
        """What was finished before under the same digests."""
        ...


class Reuse:
    """Asks once for all lanes that ask at the same moment.

    A query for each row would cost more than many a handler does.
    """

    def __init__(self, source: RecallSource) -> None:
        self._source = source
        self._asked: dict[_Group, dict[str, asyncio.Future[ReusedResult | None]]] = defaultdict(
            dict
        )
        self._asking: set[asyncio.Task[None]] = set()

    async def find(self, owner: str, digest: str, within_s: float) -> ReusedResult | None:
        """The newest result under that digest, if it is young enough."""
        group = self._asked[owner, within_s]
        if digest not in group:
            group[digest] = asyncio.get_running_loop().create_future()
        if len(group) == 1:
            task = asyncio.ensure_future(self._ask((owner, within_s)))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)
        return await asyncio.shield(group[digest])

    async def _ask(self, key: _Group) -> None:
        # A task begins after all that is ready to run, so others have asked as well by now.
        owner, within_s = key
        group = self._asked.pop(key)
        try:
            found = await self._source.recall(RecallRequest(owner, [*group], within_s))
        except Exception as error:  # noqa: BLE001  handed on to whoever asked
            for waiting in group.values():
                waiting.set_exception(error)
            return
        by_digest = {each.digest: each for each in found}
        for digest, waiting in group.items():
            waiting.set_result(by_digest.get(digest))


class JobRuntime(msgspec.Struct, frozen=True):
    """A job with its handler, ready to run."""

    job: JobView
    handler: HandlerSpec
    limit_s: float
    reuse_s: float | None = None
    """How old a result may be that is taken over from an earlier item; None: none is."""


REUSE = "reuse"
"""Where in a job's configuration it stands how old a result may be that is taken over."""


def reuse_in(config: Mapping[str, Any], handler: HandlerSpec) -> float | None:
    """How many seconds old a result may be; UsageError if that cannot be."""
    if config.get(REUSE) is None:
        return None
    if not handler.version:
        raise UsageError(
            f"{REUSE}: {handler.name} declares no version, so nobody knows which results are still"
            ' its own; write @handler(…, version="1")'
        )
    try:
        return parse_span(str(config[REUSE]))
    except ValueError as error:
        raise UsageError(f"{REUSE}: {error}") from error


class ItemLog:
    """A logger that knows its item, and binds that only when something is logged."""

    __slots__ = ("_attempt", "_item", "_log")

    def __init__(self, log: Logger, item: ClaimedItem, attempt: int) -> None:
        self._log = log
        self._item = item
        self._attempt = attempt

    def _facts(self, facts: Mapping[str, object]) -> dict[str, Any]:
        item = self._item
        return {"job": item.job_id, "item": item.id, "attempt": self._attempt, **facts}

    def debug(self, event: str, **facts: object) -> object:
        """Log detail."""
        return self._log.debug(event, **self._facts(facts))

    def info(self, event: str, **facts: object) -> object:
        """Log news."""
        return self._log.info(event, **self._facts(facts))

    def warning(self, event: str, **facts: object) -> object:
        """Log something odd."""
        return self._log.warning(event, **self._facts(facts))

    def error(self, event: str, **facts: object) -> object:
        """Log a failure."""
        return self._log.error(event, **self._facts(facts))


class Places(msgspec.Struct, frozen=True):
    """Where handlers find bytes, and put them."""

    files: JobFiles | None = None
    folders: Folders | None = None


class JobRuntimes:
    """Finds and keeps the work of each job that this process has touched."""

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
        """Told what is wrong with a handler, beside the log and the record of its job."""

    def work_of(self, job_id: int) -> JobRuntime:
        """The work of a job that was prepared."""
        return self._works[job_id]

    async def prepare(self, job_id: int) -> JobRuntime | None:
        """Load a job and its handler; None if this process cannot run it."""
        if job_id in self._works:
            return self._works[job_id]
        try:
            job = await self._store.reads.job(job_id)
            spec = self._lookup(job.handler).configured(job.config)
            reuse_s = reuse_in(job.config, spec)
        except UnknownJob:
            return None
        except UnknownHandler as error:
            self.unrunnable[job_id] = str(error)
            self._log.error("handler cannot be loaded", job=job_id, reason=str(error))
            with suppress(HeadgateError):  # the events of the job tell it
                message = f"cannot be loaded by a worker: {error}"
                await self._store.jobs.record_event("handler", message, job_id)
            return None
        except UsageError as error:
            # No process can run a job that is configured so, and nothing will change that.
            await self._fail(job_id, str(error))
            return None
        if spec.provider:
            self._http.declare(spec.provider, spec.limits)
        self._http.adopt(spec.providers)
        view = JobView(job.id, job.name, job.owner, job.config)
        limit_s = spec.timeout_s or self._policy.item_timeout_s
        work = JobRuntime(view, spec, limit_s, reuse_s)
        self._works[job_id] = work
        return work

    async def halt(self, job_id: int, reason: str) -> None:
        """Let a job rest until somebody resumes it: no item of it would fare better."""
        with suppress(HeadgateError):  # it rests already, or the store is away: items come back
            await self._store.jobs.move_job(job_id, JobMove.PAUSE, reason)
            self._log.error("job paused", job=job_id, reason=reason)

    async def warn(self, job_id: int, reason: str) -> None:
        """Say what is wrong with the handler of a job, once in each process."""
        if job_id in self._warned:
            return
        self._warned.add(job_id)
        self._log.warning("handler warning", job=job_id, reason=reason)
        self.on_warning(reason)
        with suppress(HeadgateError):  # the job is gone, or the store is away for a moment
            await self._store.jobs.record_event("handler_warning", reason, job_id)

    async def _fail(self, job_id: int, reason: str) -> None:
        self._log.error("job cannot be run as it is configured", job=job_id, reason=reason)
        with suppress(IllegalMove, UnknownJob):  # somebody else was faster
            await self._store.jobs.move_job(job_id, JobMove.FAIL, reason)

    def context(self, work: JobRuntime, item: ClaimedItem, waits: Waits = UNHEARD) -> Context:
        """The surroundings of one attempt."""
        strategies = work.handler.strategies
        strategy = strategies[min(item.strategy, len(strategies) - 1)] if strategies else None
        attempt = item.attempts + 1
        log = ItemLog(self._log, item, attempt)
        opener = partial(self._open, work, item, waits)
        places = self._places
        files = partial(places.files, work.job) if places.files else None
        return Context(
            work.job, attempt, strategy, log, opener, _files=files, _folders=places.folders
        )

    def _open(self, work: JobRuntime, item: ClaimedItem, waits: Waits) -> Http:
        calls = self._calls.setdefault(item.id, [])
        handler, owner = work.handler, work.job.owner
        for_user = handler.described and owner != LOCAL_OWNER
        return self._http(
            Turn(owner, work.job.id, waits, item.attempts > 0, item.elsewhere, for_user),
            handler.provider or "",
            calls.append,
            guarded=handler.guarded,
            blocking=not handler.is_async,
        )

    def take_calls(self, item_id: int) -> list[Call] | None:
        """What an attempt asked of the network until now; None if it has not asked at all."""
        return self._calls.pop(item_id, None)
