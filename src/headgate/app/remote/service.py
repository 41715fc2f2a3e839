"""A server, as the commands see it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from headgate.app.remote.exports import RemoteExports
from headgate.app.remote.gates import RemoteGates
from headgate.app.remote.items import RemoteItems
from headgate.app.remote.jobs import RemoteJobs
from headgate.app.remote.queues import RemoteQueues
from headgate.app.remote.values import worker_of
from headgate.client import Client
from headgate.core.worker import WorkerRow


class RemoteService:
    """Implements Service."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.jobs = RemoteJobs(client)
        self.items = RemoteItems(client)
        self.queues = RemoteQueues(client)
        self.gates = RemoteGates(client)
        self.exports = RemoteExports(client)

    async def is_at_work(self, job_ids: Sequence[int]) -> bool:  # noqa: ARG002
        """A server works by itself."""
        return True

    async def workers(self, *, everybody: bool) -> list[WorkerRow]:
        """Who is at work, newest first."""
        return [worker_of(each) for each in await self._client.workers.ls(everybody=everybody)]


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[RemoteService]:
    """The server at an address; its token is read from the environment."""
    async with Client(url) as client:
        yield RemoteService(client)
