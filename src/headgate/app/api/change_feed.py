"""The messages behind the event stream: new events, and changes of jobs and gates."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from headgate.app.api.problems import public_detail
from headgate.app.api.state import AppState
from headgate.app.schema_values import counts_view, eta_view, event_view, wait_view
from headgate.core.errors import HeadgateError, UnknownJob
from headgate.core.gates.view import GateView
from headgate.core.job import Counts, Job
from headgate.core.paging import Cursor, SortOrder, encode_cursor
from headgate.core.status import UNFINISHED
from headgate.core.time_text import moment
from headgate.engine.gate_control import read_gates
from headgate.ports.clock import Clock
from headgate.ports.reads import EventQuery, EventRow, ItemQuery, JobQuery, ReadStore
from headgate.schema.events import Changed, Counters, GateChange, Hello, News, Trouble


class EventTail:
    """Reads new events, and reads events that are a few seconds old again.

    Ids are assigned before the commit: with several writers, a smaller id may appear after a larger
    one.
    """

    LATE_S = 5.0
    PAGE = 200
    PAGES = 50
    """Pages that one call reads at most. The next call continues there."""

    def __init__(self, reads: ReadStore, clock: Clock, query: EventQuery, after: int) -> None:
        self._reads = reads
        self._clock = clock
        self._query = replace(query, limit=self.PAGE)
        self._floor = after
        """All events up to this id were returned, or can no longer appear."""
        self._returned: dict[int, float] = {}
        """Events after the floor that were returned, with the monotonic time in seconds."""

    async def fresh(self) -> list[EventRow]:
        fresh: list[EventRow] = []
        after = self._floor
        for _ in range(self.PAGES):
            rows = await self._reads.events(replace(self._query, after_id=after))
            fresh += [row for row in rows if row.id not in self._returned]
            if len(rows) < self.PAGE:
                break
            after = rows[-1].id
        now_s = self._clock.monotonic()
        self._returned |= {row.id: now_s for row in fresh}
        self._settle(now_s)
        return fresh

    def _settle(self, now_s: float) -> None:
        """Raise the floor to the newest event that was returned more than `LATE_S` ago."""
        old = [number for number, at_s in self._returned.items() if now_s - at_s > self.LATE_S]
        self._floor = max([self._floor, *old])
        self._returned = {id_: at_s for id_, at_s in self._returned.items() if id_ > self._floor}


Message = tuple[str, str | None, str]
"""The kind, the id if there is one, and the data as JSON."""


class Topic(NamedTuple):
    """The subject of a stream: one job or all, of one owner or all, with or without all gates."""

    job_id: int | None
    owner: str | None
    gates: bool


async def always() -> bool:
    return True


class ChangeFeed:
    """Looks for changes while a client is connected, at most four times a second."""

    PERIOD_S = 0.25
    LIST_PERIOD_S = 1.0
    """Seconds between two looks at all jobs, for a stream that is not about one job."""
    GATES_PERIOD_S = 1.0
    OVERLAP_US = 5_000_000
    """Changes in the 5 s before the last message are sent again: clocks differ, commits overlap."""
    UNCHANGED_PERIOD_S = 1.0
    UNCHANGED_LIST_PERIOD_S = 5.0
    """Seconds between two looks at a job whose counters do not change. Its limit, rate and time
    left may change."""
    JOBS = 50
    CHECK_PERIOD_S = 1.0
    """Seconds between two checks that the client may still read."""

    def __init__(
        self,
        app_state: AppState,
        topic: Topic,
        may_read: Callable[[], Awaitable[bool]] = always,
    ) -> None:
        self._store = app_state.store
        self._monitor = app_state.monitor
        self._limit_cache = app_state.limit_cache
        self._clock = app_state.clock
        self._limits = app_state.settings.gate_limits
        self._topic = topic
        self._may_read = may_read
        self._checked_s = self._clock.monotonic()
        self._sent_jobs: dict[int, tuple[str, Counts]] = {}
        self._sent_us: dict[int, int] = {}
        self._sent_pace: dict[int, object] = {}
        self._paced_s: dict[int, float] = {}
        self._newest_id: int | None = None
        self._sent_gates: dict[str, int] | None = None
        self._sent_facts: dict[str, GateChange] = {}
        self._gates_s = self._jobs_s = float("-inf")

    async def messages(self, after: int | None) -> AsyncIterator[Message]:
        """Yield messages while the client may read. Events start after the id `after`, or now."""
        query = EventQuery(job_id=self._topic.job_id, owner=self._topic.owner)
        seen = await self._newest(query) if after is None else after
        record = EventTail(self._store.reads, self._clock, query, seen)
        yield "hello", str(seen), _json(Hello())
        while True:
            try:
                if not await self._goes_on():
                    return
                for message in [message async for message in self._changes()]:
                    yield message
                rows = await record.fresh()
            except HeadgateError as error:
                yield "trouble", None, _json(Trouble(detail=public_detail(error)))
                rows = []
            for row in rows:
                yield "event", str(row.id), _json(event_view(row))
            await self._clock.sleep(self.PERIOD_S)

    async def _goes_on(self) -> bool:
        now_s = self._clock.monotonic()
        if now_s - self._checked_s < self.CHECK_PERIOD_S:
            return True
        self._checked_s = now_s
        return await self._may_read()

    async def _newest(self, query: EventQuery) -> int:
        last = msgspec.structs.replace(query, newest_first=True, limit=1)
        return next((row.id for row in await self._store.reads.events(last)), 0)

    async def _changes(self) -> AsyncIterator[Message]:
        for job in await self._jobs():
            counts = await self._store.reads.counts(job.id)
            now = (str(job.state), counts)
            if self._sent_jobs.get(job.id) != now:
                self._sent_jobs[job.id] = now
                yield "counters", None, _json(await self._counters(job, counts))
                since_us = self._sent_us.get(job.id, 0) - self.OVERLAP_US
                self._sent_us[job.id] = self._clock.now()
                yield (
                    "changed",
                    None,
                    _json(Changed(job_id=str(job.id), after=_cursor(job, since_us))),
                )
            elif self._is_due(job):
                sent = self._sent_pace.get(job.id)
                value = await self._counters(job, counts)
                if self._sent_pace[job.id] != sent:
                    yield "counters", None, _json(value)
        if self._watches_gates():
            async for message in self._gate_changes():
                yield message

    def _is_due(self, job: Job) -> bool:
        """Return whether a job with unchanged counters is due for another look."""
        alone = self._topic.job_id is not None
        period_s = self.UNCHANGED_PERIOD_S if alone else self.UNCHANGED_LIST_PERIOD_S
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
        # Jobs that were unfinished at the last look are sent once more, also if they ended.
        missing = self._sent_jobs.keys() - {job.id for job in unfinished}
        ended = [job for job_id in sorted(missing) if (job := await self._ended(job_id))]
        found = {job.id: job for job in (*unfinished, *ended, *await self._fresh())}
        return [*found.values()]

    async def _fresh(self) -> list[Job]:
        """Return jobs that were created since the last look. They may have finished already."""
        query = JobQuery(owner=self._topic.owner, limit=self.JOBS, configs=False)
        newest = await self._store.reads.jobs(query)
        known_id = self._newest_id
        self._newest_id = max((job.id for job in newest), default=0)
        return [job for job in newest if known_id is not None and job.id > known_id]

    async def _ended(self, job_id: int) -> Job | None:
        state, _ = self._sent_jobs[job_id]
        if state not in UNFINISHED:
            return None
        try:
            return await self._store.reads.job(job_id, self._topic.owner)
        except UnknownJob:
            self._sent_jobs.pop(job_id)
            return None

    async def _counters(self, job: Job, counts: Counts) -> Counters:
        limit = await self._limit_cache.limit_of(job)
        limited_by = wait_view(limit.wait)
        eta = eta_view(self._monitor.eta(job, counts.open, limit))
        rate = self._monitor.rate(job.id)
        self._paced_s[job.id] = self._clock.monotonic()
        self._sent_pace[job.id] = (limited_by, eta, rate)
        return Counters(
            job_id=str(job.id),
            state=job.state,
            counts=counts_view(counts),
            ingest=job.ingest,
            rate=rate,
            eta=eta,
            limited_by=limited_by,
            at=moment(self._clock.now()),
        )

    def _watches_gates(self) -> bool:
        """Return whether gates are sent: while the job is unfinished, or to admins."""
        if self._topic.job_id is None:
            return self._topic.gates
        state, _ = self._sent_jobs.get(self._topic.job_id, ("", None))
        return state in UNFINISHED

    async def _gate_changes(self) -> AsyncIterator[Message]:
        now_s = self._clock.monotonic()
        if now_s - self._gates_s < self.GATES_PERIOD_S:
            return
        self._gates_s = now_s
        for view in await (self._gates() if self._topic.job_id is None else self._gates_of_job()):
            yield "gate", None, _json(replace(_facts(view), at=moment(self._clock.now())))

    async def _gates_of_job(self) -> Sequence[GateView]:
        reading = await self._limit_cache.read(self._topic.job_id or 0)
        views = reading.views if reading else ()
        sent, self._sent_facts = self._sent_facts, {view.key: _facts(view) for view in views}
        return [view for view in views if sent.get(view.key) != self._sent_facts[view.key]]

    async def _gates(self) -> Sequence[GateView]:
        versions = {entry.key: entry.version for entry in await self._store.limits.entries()}
        sent, self._sent_gates = self._sent_gates, versions
        if sent is None:
            return ()
        changed = [key for key, version in versions.items() if sent.get(key) != version]
        return (await read_gates(self._store.limits, self._limits, changed)).views


def _facts(view: GateView) -> GateChange:
    """The facts whose change is sent, without a time."""
    return GateChange(
        key=view.key,
        name=view.name,
        now_per_s=view.now_per_s,
        learned_per_s=view.learned_per_s,
        closed=view.closed,
        closed_until=view.closed_until,
        why=view.why,
        in_flight=view.in_flight,
        latency_s=view.latency_s,
        refused_share=view.refused_share,
    )


def _cursor(job: Job, since_us: int) -> str:
    """Return the cursor of the first change of an item after `since_us`."""
    name = ItemQuery(job.id).filter_name()
    return encode_cursor(Cursor(SortOrder.UPDATED, name, max(since_us, 0), 0))


def _json(news: News) -> str:
    return msgspec.json.encode(news).decode()
