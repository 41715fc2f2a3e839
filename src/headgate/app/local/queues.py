"""Open queues of a store."""

from collections.abc import AsyncIterator, Sequence

from headgate.app.service import Fed, Feeding, JobStand
from headgate.core.errors import UnknownHandler, UsageError
from headgate.core.job import Job
from headgate.core.sizing import IngestPolicy, IngestSizer
from headgate.engine.job_control import JobControl
from headgate.engine.queues import QueueRow, Queues, QueueWriter, names_in_queue
from headgate.engine.rows import GateOf
from headgate.handlers.registry import resolve
from headgate.ports.clock import Clock
from headgate.ports.store import Store


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

    async def ls(self) -> list[JobStand]:
        """Every queue that is not closed, oldest first."""
        return [await self._stand(job) for job in await self._queues.all()]

    async def get(self, name: str) -> JobStand:
        """One queue, or UnknownJob."""
        return await self._stand(await self._queues.get(name))

    async def feed(self, feeding: Feeding, rows: AsyncIterator[QueueRow | None]) -> Fed:
        """Put rows in; None among them means that nothing more has come yet."""
        handler = feeding.handler
        reference = resolve(handler, self._handlers).reference if handler else None
        job = await self._queues.get_or_make(feeding.queue, reference, feeding.key)
        names = names_in_queue(job, feeding.key, self._gate_of(job))
        feed = QueueWriter(self._store, job.id, names, IngestSizer(self._ingest), self._clock)
        async for row in rows:
            # Nothing more has come yet: what came must not wait for it.
            await (feed.flush() if row is None else feed.add(row))
        await feed.flush()
        return Fed(job.id, feed.report)

    def _gate_of(self, job: Job) -> GateOf | None:
        """How the queue's handler names gates; one that cannot be loaded here names none."""
        try:
            return resolve(job.handler, self._handlers).configured(job.config).gate_of
        except (UnknownHandler, UsageError):
            return None

    async def close(self, name: str) -> Job:
        """Take no more items."""
        return await JobControl(self._store).close((await self._queues.get(name)).id)

    async def _stand(self, job: Job) -> JobStand:
        return JobStand(job, await self._store.reads.counts(job.id))
