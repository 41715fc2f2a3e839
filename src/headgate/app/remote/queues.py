"""Open queues of a server."""

from collections.abc import AsyncIterator

import msgspec

from headgate.app.remote.values import job_of, stand_of
from headgate.app.service import Fed, Feeding, JobStand
from headgate.client import Client, Rows
from headgate.client.queues import Queues
from headgate.core.job import Job
from headgate.engine.queues import SHOWN_PROBLEMS, QueueRow, QueueWriteReport

MOST_ROWS = 1_000
MOST_BYTES = 4 * 1024 * 1024


class RemoteQueues:
    """Implements QueueVerbs."""

    def __init__(self, client: Client) -> None:
        self._queues = client.queues

    async def ls(self) -> list[JobStand]:
        """Every queue that is not closed, oldest first."""
        return [stand_of(job) for job in await self._queues.ls()]

    async def get(self, name: str) -> JobStand:
        """One queue, or UnknownJob."""
        return stand_of(await self._queues.get(name))

    async def feed(self, feeding: Feeding, rows: AsyncIterator[QueueRow | None]) -> Fed:
        """Put rows in; None among them means that nothing more has come yet."""
        sending = _Sending(self._queues, feeding)
        async for row in rows:
            if row is None:
                await sending.flush()
            else:
                await sending.add(row)
        # Also without rows: the queue is made, or found to be missing.
        await sending.flush(empty=sending.job_id is None)
        return Fed(sending.job_id or 0, sending.report)

    async def close(self, name: str) -> Job:
        """Take no more items."""
        return job_of(await self._queues.close(name))


class _Sending:
    """Rows on their way, some at a time."""

    def __init__(self, queues: Queues, feeding: Feeding) -> None:
        self._queues = queues
        self._feeding = feeding
        self._rows: list[QueueRow] = []
        self._texts: list[bytes] = []
        self._bytes = 0
        self.job_id: int | None = None
        self.report = QueueWriteReport()

    async def add(self, row: QueueRow) -> None:
        text = msgspec.json.encode(row.values)
        self._rows.append(row)
        self._texts.append(text)
        self._bytes += len(text)
        if len(self._rows) >= MOST_ROWS or self._bytes >= MOST_BYTES:
            await self.flush()

    async def flush(self, *, empty: bool = False) -> None:
        if not self._rows and not empty:
            return
        rows, texts = self._rows, self._texts
        self._rows, self._texts, self._bytes = [], [], 0
        fed = await self._queues.feed(
            self._feeding.queue,
            Rows(
                items=[msgspec.Raw(text) for text in texts],
                handler=self._feeding.handler,
                key=self._feeding.key,
                lines=[row.line for row in rows],
                problems=[row.problem for row in rows],
            ),
        )
        self.job_id = int(fed.job_id)
        report = self.report
        report.added += fed.added
        report.known += fed.known
        report.bad += fed.bad
        report.problems = [*report.problems, *fed.problems][:SHOWN_PROBLEMS]
