"""A store with its settings, as the commands see it."""

from collections.abc import Sequence

from headgate.app.local.exports import LocalExports
from headgate.app.local.gates import LocalGates
from headgate.app.local.items import LocalItems
from headgate.app.local.jobs import LocalJobs
from headgate.app.local.queues import LocalQueues
from headgate.app.settings import Loaded
from headgate.core.gates.config import GateLimits
from headgate.core.worker import WorkerRow
from headgate.ports.clock import Clock
from headgate.ports.store import Store


class LocalService:
    """Implements Service."""

    def __init__(self, store: Store, loaded: Loaded, clock: Clock) -> None:
        settings = loaded.settings
        limits = GateLimits(settings.providers, settings.gates)
        self._store = store
        self.jobs = LocalJobs(store, limits, settings.retry)
        self.items = LocalItems(store, limits)
        self.queues = LocalQueues(store, clock, settings.ingest, settings.handlers)
        self.gates = LocalGates(store, loaded)
        self.exports = LocalExports(store.reads, clock)

    async def is_at_work(self, job_ids: Sequence[int]) -> bool:
        """Whether a worker is there for each of these jobs."""
        found = [await self._store.situations.of(job_id) for job_id in job_ids]
        return all(each.workers for each in found)

    async def workers(self, *, everybody: bool) -> list[WorkerRow]:
        """Who is at work, newest first."""
        return await self._store.reads.workers(alive_only=not everybody)
