"""What one listener has not heard yet."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from headgate.app.api.event_view import event_view
from headgate.app.api.job_view import counts_view, eta_view, wait_view
from headgate.app.api.problems import told
from headgate.app.api.state import AppState
from headgate.core.errors import HeadgateError, UnknownJob
from headgate.core.gates.view import GateView
from headgate.core.job import Counts, Job
from headgate.core.paging import Cursor, SortOrder, encode_cursor
from headgate.core.status import UNFINISHED
from headgate.core.time_text import moment
from headgate.engine.gate_control import read_gates
from headgate.ports.clock import Clock
from headgate.ports.reads import EventQuery, EventRow, ItemQuery, JobQuery, ReadStore


class EventTail:
    """Reads on where the last look ended, and once more over what is only seconds old.

    Ids are given out before the commit: where several processes write at once, a smaller one may
    appear after a larger one.
    """

    LATE_S = 5.0
    PAGE = 200
    PAGES = 50
    """How much one look reads; the next one goes on there."""

    def __init__(self, reads: ReadStore, clock: Clock, query: EventQuery, after: int) -> None:
        self._reads = reads
        self._clock = clock
        self._query = replace(query, limit=self.PAGE)
        self._floor = after
        """Nothing up to here is still to come."""
        self._told: dict[int, float] = {}
        """What was told beyond that, and when."""

    async def fresh(self) -> list[EventRow]:
        """What has not been told yet, in order of id."""
        fresh: list[EventRow] = []
        after = self._floor
        for _ in range(self.PAGES):
            rows = await self._reads.events(replace(self._query, after_id=after))
            fresh += [row for row in rows if row.id not in self._told]
            if len(rows) < self.PAGE:
                break
            after = rows[-1].id
        now_s = self._clock.monotonic()
        self._told |= {row.id: now_s for row in fresh}
        self._settle(now_s)
        return fresh

    def _settle(self, now_s: float) -> None:
        """Raise the floor to what was told long enough ago."""
        old = [number for number, at_s in self._told.items() if now_s - at_s > self.LATE_S]
        self._floor = max([self._floor, *old])
        self._told = {number: at for number, at in self._told.items() if number > self._floor}


Message = tuple[str, str | None, str]
"""The kind of a message, its id if it has one, and its data as JSON."""
_Facts = dict[str, object]


class Topic(NamedTuple):
    """What somebody listens to."""

    job_id: int | None
    owner: str | None
    gates: bool


async def for_ever() -> bool:
    """For a listener who may always go on."""
    return True


class ChangeFeed:
    """Looks for changes as long as somebody listens; never more often than four times a second."""

    PERIOD_S = 0.25
    LIST_PERIOD_S = 1.0
    """How often all jobs are looked at, for those who listen to no job in particular."""
    GATES_PERIOD_S = 1.0
    OVERLAP_US = 5_000_000
    """What changed just before the last message is told again: clocks differ, commits overlap."""
    STANDING_PERIOD_S = 1.0
    STANDING_LIST_PERIOD_S = 5.0
    """How often a job is looked at whose counters stand still: its cause, rate and rest may not."""
    JOBS = 50
    CHECK_PERIOD_S = 1.0
    """How often it is checked that the listener may still listen."""

    def __init__(
        self,
        app_state: AppState,
        topic: Topic,
        may_listen: Callable[[], Awaitable[bool]] = for_ever,
    ) -> None:
        self._store = app_state.store
        self._monitor = app_state.monitor
        self._limit_cache = app_state.limit_cache
        self._clock = app_state.clock
        self._limits = app_state.settings.gate_limits
        self._topic = topic
        self._may_listen = may_listen
        self._checked_s = self._clock.monotonic()
        self._told_jobs: dict[int, tuple[str, Counts]] = {}
        self._told_us: dict[int, int] = {}
        self._told_pace: dict[int, object] = {}
        self._paced_s: dict[int, float] = {}
        self._newest_id: int | None = None
        self._told_gates: dict[str, int] | None = None
        self._told_facts: dict[str, _Facts] = {}
        self._gates_s = self._jobs_s = float("-inf")

    async def told(self, after: int | None) -> AsyncIterator[Message]:
        """Messages while the listener may listen; decisions from after that event, or from now."""
        query = EventQuery(job_id=self._topic.job_id, owner=self._topic.owner)
        seen = await self._newest(query) if after is None else after
        record = EventTail(self._store.reads, self._clock, query, seen)
        yield "hello", str(seen), "{}"
        while True:
            try:
                if not await self._goes_on():
                    return
                for message in [message async for message in self._changes()]:
                    yield message
                rows = await record.fresh()
            except HeadgateError as error:
                yield "trouble", None, _json({"detail": told(error)})
                rows = []
            for row in rows:
                yield "event", str(row.id), event_view(row).model_dump_json(by_alias=True)
            await self._clock.sleep(self.PERIOD_S)

    async def _goes_on(self) -> bool:
        now_s = self._clock.monotonic()
        if now_s - self._checked_s < self.CHECK_PERIOD_S:
            return True
        self._checked_s = now_s
        return await self._may_listen()

    async def _newest(self, query: EventQuery) -> int:
        last = msgspec.structs.replace(query, newest_first=True, limit=1)
        return next((row.id for row in await self._store.reads.events(last)), 0)

    async def _changes(self) -> AsyncIterator[Message]:
        for job in await self._jobs():
            counts = await self._store.reads.counts(job.id)
            now = (str(job.state), counts)
            if self._told_jobs.get(job.id) != now:
                self._told_jobs[job.id] = now
                yield "counters", None, _json(await self._counters(job, counts))
                since_us = self._told_us.get(job.id, 0) - self.OVERLAP_US
                self._told_us[job.id] = self._clock.now()
                yield (
                    "changed",
                    None,
                    _json({"jobId": str(job.id), "after": _cursor(job, since_us)}),
                )
            elif self._stands(job):
                told = self._told_pace.get(job.id)
                value = await self._counters(job, counts)
                if self._told_pace[job.id] != told:
                    yield "counters", None, _json(value)
        if self._watches_gates():
            async for message in self._gate_changes():
                yield message

    def _stands(self, job: Job) -> bool:
        """Whether it is time to look at a job again of which the counters are as they were."""
        alone = self._topic.job_id is not None
        period_s = self.STANDING_PERIOD_S if alone else self.STANDING_LIST_PERIOD_S
        since_s = self._clock.monotonic() - self._paced_s.get(job.id, float("-inf"))
        return job.state in UNFINISHED and since_s >= period_s

    async def _jobs(self) -> list[Job]:
        reads, now_s = self._store.reads, self._clock.monotonic()
        if self._topic.job_id is not None:
            try:
                return [await reads.job(self._topic.job_id, self._topic.owner)]
            except UnknownJob:
                return []
        if now_s - self._jobs_s < self.LIST_PERIOD_S:
            return []
        self._jobs_s = now_s
        query = JobQuery(owner=self._topic.owner, states=UNFINISHED, limit=self.JOBS, configs=False)
        unfinished = await reads.jobs(query)
        # What was unfinished at the last look is told of once more, however it ended.
        missing = self._told_jobs.keys() - {job.id for job in unfinished}
        ended = [job for job_id in sorted(missing) if (job := await self._ended(job_id))]
        found = {job.id: job for job in (*unfinished, *ended, *await self._fresh())}
        return [*found.values()]

    async def _fresh(self) -> list[Job]:
        """Jobs that were made since the last look; they may have ended already."""
        query = JobQuery(owner=self._topic.owner, limit=self.JOBS, configs=False)
        newest = await self._store.reads.jobs(query)
        known_id = self._newest_id
        self._newest_id = max((job.id for job in newest), default=0)
        return [job for job in newest if known_id is not None and job.id > known_id]

    async def _ended(self, job_id: int) -> Job | None:
        state, _ = self._told_jobs[job_id]
        if state not in UNFINISHED:
            return None
        try:
            return await self._store.reads.job(job_id, self._topic.owner)
        except UnknownJob:
            self._told_jobs.pop(job_id)
            return None

    async def _counters(self, job: Job, counts: Counts) -> dict[str, object]:
        limit = await self._limit_cache.limit_of(job)
        limited_by = wait_view(limit.wait)
        eta = eta_view(self._monitor.eta(job, counts.open, limit))
        rate = self._monitor.rate(job.id)
        self._paced_s[job.id] = self._clock.monotonic()
        self._told_pace[job.id] = (limited_by, eta, rate)
        return {
            "jobId": str(job.id),
            "state": str(job.state),
            "counts": counts_view(counts).model_dump(by_alias=True),
            "ingest": dict(job.ingest),
            "rate": rate,
            "eta": eta and eta.model_dump(by_alias=True),
            "limitedBy": limited_by and limited_by.model_dump(by_alias=True),
            "at": moment(self._clock.now()),
        }

    def _watches_gates(self) -> bool:
        """Those of a job matter as long as it works; all of them are for admins."""
        if self._topic.job_id is None:
            return self._topic.gates
        state, _ = self._told_jobs.get(self._topic.job_id, ("", None))
        return state in UNFINISHED

    async def _gate_changes(self) -> AsyncIterator[Message]:
        now_s = self._clock.monotonic()
        if now_s - self._gates_s < self.GATES_PERIOD_S:
            return
        self._gates_s = now_s
        for view in await (self._gates() if self._topic.job_id is None else self._gates_of_job()):
            yield "gate", None, _json({"at": moment(self._clock.now()), **_facts(view)})

    async def _gates_of_job(self) -> Sequence[GateView]:
        """Those gates of the job that are not what they were."""
        reading = await self._limit_cache.read(self._topic.job_id or 0)
        views = reading.views if reading else ()
        told, self._told_facts = self._told_facts, {view.key: _facts(view) for view in views}
        return [view for view in views if told.get(view.key) != self._told_facts[view.key]]

    async def _gates(self) -> Sequence[GateView]:
        """All gates that are not what they were."""
        versions = {entry.key: entry.version for entry in await self._store.limits.entries()}
        told, self._told_gates = self._told_gates, versions
        if told is None:
            return ()
        changed = [key for key, version in versions.items() if told.get(key) != version]
        return (await read_gates(self._store.limits, self._limits, changed)).views


def _facts(view: GateView) -> _Facts:
    return {
        "key": view.key,
        "name": view.name,
        "nowPerS": view.now_per_s,
        "learnedPerS": view.learned_per_s,
        "closed": view.closed,
        "closedUntil": view.closed_until,
        "why": view.why,
        "inFlight": view.in_flight,
        "latencyS": view.latency_s,
        "refusedShare": view.refused_share,
    }


def _cursor(job: Job, since_us: int) -> str:
    """Where whoever reads a job's items by time of change finds what changed since."""
    name = ItemQuery(job.id).filter_name()
    return encode_cursor(Cursor(SortOrder.UPDATED, name, max(since_us, 0), 0))


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
