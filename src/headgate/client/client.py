"""The client of one server."""

import os
from types import TracebackType
from typing import Self

from headgate.client.across_jobs import DeadLettersClient, PendingClient
from headgate.client.admin import ProvidersClient, TokensClient, UsersClient, WorkersClient
from headgate.client.events import EventsClient
from headgate.client.exports import ExportsClient
from headgate.client.items import ItemsClient, ReviewsClient
from headgate.client.jobs import JobsClient
from headgate.client.mirrors import MirrorsClient
from headgate.client.queues import QueuesClient
from headgate.client.submit import SubmitClient
from headgate.client.transport import ApiRequest, ClientTimeouts, Transport
from headgate.schema.access import Me
from headgate.schema.system import HandlerView, HealthView, System
from headgate.schema.values import Listed

TOKEN_VARIABLE = "HEADGATE_TOKEN"  # noqa: S105  the name of a variable


class Client:
    """A connection to a server: `async with Client("http://127.0.0.1:8470") as client: …`.

    Without a token, the client uses HEADGATE_TOKEN. Safe requests are repeated when the server is
    busy or does not answer.
    """

    def __init__(
        self, url: str, token: str | None = None, *, timeouts: ClientTimeouts | None = None
    ) -> None:
        timeouts = timeouts or ClientTimeouts()
        secret = os.environ.get(TOKEN_VARIABLE, "") if token is None else token
        self._wire = Transport(url, secret.strip(), timeouts)
        self.submit = SubmitClient(self._wire)
        self.jobs = JobsClient(self._wire, timeouts)
        self.items = ItemsClient(self._wire)
        self.exports = ExportsClient(self._wire, timeouts)
        self.pending = PendingClient(self._wire)
        self.dead_letters = DeadLettersClient(self._wire)
        self.reviews = ReviewsClient(self._wire)
        self.queues = QueuesClient(self._wire)
        self.mirrors = MirrorsClient(self._wire)
        self.providers = ProvidersClient(self._wire)
        self.workers = WorkersClient(self._wire)
        self.users = UsersClient(self._wire)
        self.tokens = TokensClient(self._wire)
        self.events = EventsClient(self._wire, timeouts)

    async def __aenter__(self) -> Self:
        await self._wire.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._wire.close()

    def __repr__(self) -> str:
        return f"Client({self._wire.url!r})"

    async def handlers(self) -> list[HandlerView]:
        """The handlers that jobs may name."""
        return (await self._wire.value(ApiRequest(path="/api/handlers"), Listed[HandlerView])).items

    async def health(self) -> HealthView:
        """The health of the service; a bad one does not raise."""
        ask = ApiRequest(path="/healthz", fine=frozenset({503}))
        return await self._wire.value(ask, HealthView)

    async def system(self) -> System:
        """The database, its sweeper and the queue; for admins."""
        return await self._wire.value(ApiRequest(path="/api/system"), System)

    async def me(self) -> Me:
        """The user and the role of this client's token."""
        return await self._wire.value(ApiRequest(path="/api/me"), Me)
