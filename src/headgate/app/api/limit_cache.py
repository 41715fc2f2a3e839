"""What limits each job, read at most once a second per job for any number of callers."""

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
from headgate.engine.why import LimitedBy, limit_from_facts, read_gates_or_none
from headgate.ports.clock import Clock
from headgate.ports.store import Store


class _CachedLimit(msgspec.Struct):
    gates: JobGates
    lock: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)
    """Concurrent callers wait for one read."""
    reading: GateReading | None = None
    read_s: float = float("-inf")
    at: Situation | None = None
    at_s: float = float("-inf")


class LimitCache:
    FRESH_S = 1.0
    KEPT = 200

    def __init__(
        self, store: Store, limits: GateLimits, clock: Clock, providers: Mapping[str, str]
    ) -> None:
        self._store = store
        self._limits = limits
        self._clock = clock
        self._providers = providers
        """Providers that handlers declare."""
        self._limit_cache: OrderedDict[int, _CachedLimit] = OrderedDict()

    async def limit_of(self, job: Job) -> LimitedBy:
        if job.state not in UNFINISHED:
            return LimitedBy()
        try:
            reading = await self.read(job.id)
            at = await self.situation(job.id)
        except UnknownJob:  # deleted since the job was read
            return LimitedBy()
        return limit_from_facts(job, at, reading)

    async def situation(self, job_id: int) -> Situation:
        """Return the stored situation of a job, or raise UnknownJob."""
        cached = await self._gauge(job_id)
        async with cached.lock:
            now_s = self._clock.monotonic()
            if cached.at is None or now_s - cached.at_s >= self.FRESH_S:
                cached.at = await self._store.situations.of(job_id)
                cached.at_s = now_s
            return cached.at

    async def read(self, job_id: int) -> GateReading | None:
        """Return the gates of a job; None if the ledger does not answer or the job was deleted."""
        try:
            cached = await self._gauge(job_id)
        except UnknownJob:
            return None
        async with cached.lock:
            now_s = self._clock.monotonic()
            if now_s - cached.read_s >= self.FRESH_S:
                cached.reading = await read_gates_or_none(cached.gates)
                cached.read_s = now_s
            return cached.reading

    async def gates_of(self, job_id: int) -> JobGates:
        """Return the gates of a job without using the cache."""
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
