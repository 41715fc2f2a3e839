"""What limits each job, looked up at most once a second however many ask."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping

import msgspec

from headgate.core.errors import UnknownJob
from headgate.core.gates.config import GateLimits
from headgate.core.job import Job
from headgate.core.status import UNFINISHED
from headgate.core.waiting import Situation
from headgate.engine.gate_control import GateReading, JobGates
from headgate.engine.limited_by import LimitedBy, limiting, read_if_there
from headgate.ports.clock import Clock
from headgate.ports.store import Store


class _CachedLimit(msgspec.Struct):
    """The gates of one job, and what was read there last."""

    gates: JobGates
    lock: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)
    """Those who ask while it is read wait for what is read."""
    reading: GateReading | None = None
    read_s: float = float("-inf")
    at: Situation | None = None
    at_s: float = float("-inf")


class LimitCache:
    """One for each job that somebody looks at."""

    FRESH_S = 1.0
    KEPT = 200

    def __init__(
        self, store: Store, limits: GateLimits, clock: Clock, providers: Mapping[str, str]
    ) -> None:
        self._store = store
        self._limits = limits
        self._clock = clock
        self._providers = providers
        """Those that handlers declare."""
        self._limit_cache: OrderedDict[int, _CachedLimit] = OrderedDict()

    async def limit_of(self, job: Job) -> LimitedBy:
        """What decides a job's speed."""
        if job.state not in UNFINISHED:
            return LimitedBy()
        try:
            reading = await self.read(job.id)
            at = await self.situation(job.id)
        except UnknownJob:  # it was deleted meanwhile
            return LimitedBy()
        return limiting(job, at, reading)

    async def situation(self, job_id: int) -> Situation:
        """What is stored about how a job goes; UnknownJob if it is gone."""
        cached = await self._gauge(job_id)
        async with cached.lock:
            now_s = self._clock.monotonic()
            if cached.at is None or now_s - cached.at_s >= self.FRESH_S:
                cached.at = await self._store.situations.of(job_id)
                cached.at_s = now_s
            return cached.at

    async def read(self, job_id: int) -> GateReading | None:
        """The gates of a job; None where the ledger does not answer, or the job is gone."""
        try:
            cached = await self._gauge(job_id)
        except UnknownJob:
            return None
        async with cached.lock:
            now_s = self._clock.monotonic()
            if now_s - cached.read_s >= self.FRESH_S:
                cached.reading = await read_if_there(cached.gates)
                cached.read_s = now_s
            return cached.reading

    async def gates_of(self, job_id: int) -> JobGates:
        """The gates of a job, to be read at once."""
        return (await self._gauge(job_id)).gates

    async def _gauge(self, job_id: int) -> _CachedLimit:
        if job_id not in self._limit_cache:
            job = await self._store.reads.job(job_id)
            provider = self._providers.get(job.handler, "")
            gates = JobGates(self._store, self._limits, job_id, provider, guesses=False)
            self._limit_cache.setdefault(job_id, _CachedLimit(gates))
        self._limit_cache.move_to_end(job_id)
        while len(self._limit_cache) > self.KEPT:
            self._limit_cache.popitem(last=False)
        return self._limit_cache[job_id]
