"""The gates of each job and what limits it, looked up at most once a second however many ask."""

from collections import OrderedDict

import msgspec

from headgate.core.configured import Configured
from headgate.engine.gate_reading import GateReading
from headgate.engine.job_gates import JobGates
from headgate.engine.limiting import limiting, read_if_there
from headgate.engine.why import Wait
from headgate.ports.clock import Clock
from headgate.ports.store import Store


class _Gauge(msgspec.Struct):
    """The gates of one job, and what was read there last."""

    gates: JobGates
    reading: GateReading | None = None
    read_s: float = float("-inf")


class Gauges:
    """One for each job that somebody looks at."""

    FRESH_S = 1.0
    KEPT = 200

    def __init__(self, store: Store, limits: Configured, clock: Clock) -> None:
        self._store = store
        self._limits = limits
        self._clock = clock
        self._gauges: OrderedDict[int, _Gauge] = OrderedDict()

    async def limit_of(self, job_id: int) -> Wait | None:
        """The wait that decides a job's speed, if there is one."""
        reading = await self.read(job_id)
        return limiting(reading) if reading else None

    async def read(self, job_id: int) -> GateReading | None:
        """The gates of a job; None where the ledger does not answer."""
        gauge = self._gauges.get(job_id)
        if gauge is None:
            gauge = self._gauges[job_id] = _Gauge(JobGates(self._store, self._limits, job_id))
        self._gauges.move_to_end(job_id)
        while len(self._gauges) > self.KEPT:
            self._gauges.popitem(last=False)
        now_s = self._clock.monotonic()
        if now_s - gauge.read_s >= self.FRESH_S:
            gauge.read_s = now_s
            gauge.reading = await read_if_there(gauge.gates)
        return gauge.reading
