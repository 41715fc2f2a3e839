"""The client of one server."""

import os
from types import TracebackType
from typing import Self

from headgate.client.access import Me, Tokens, Users
from headgate.client.across_jobs import DeadLetters, Pending
from headgate.client.events import Events
from headgate.client.exports import Exports
from headgate.client.gates import Providers
from headgate.client.items import Items, Reviews
from headgate.client.jobs import Jobs
from headgate.client.queues import Queues
from headgate.client.submit import Submit
from headgate.client.system import Handler, Health, System, Workers
from headgate.client.transport import ApiRequest, ClientTimeouts, Transport
from headgate.client.values import Listed

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
        self.submit = Submit(self._wire)
        self.jobs = Jobs(self._wire, timeouts)
        self.items = Items(self._wire)
        self.exports = Exports(self._wire, timeouts)
        self.pending = Pending(self._wire)
        self.dead_letters = DeadLetters(self._wire)
        self.reviews = Reviews(self._wire)
        self.queues = Queues(self._wire)
        self.providers = Providers(self._wire)
        self.workers = Workers(self._wire)
        self.users = Users(self._wire)
        self.tokens = Tokens(self._wire)
        self.events = Events(self._wire, timeouts)

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

    async def handlers(self) -> list[Handler]:
        """The handlers that jobs may name."""
        return (await self._wire.value(ApiRequest(path="/api/handlers"), Listed[Handler])).items

    async def health(self) -> Health:
        """The health of the service; a bad one does not raise."""
        ask = ApiRequest(path="/healthz", fine=frozenset({503}))
        return await self._wire.value(ask, Health)

    async def system(self) -> System:
        """The database, its sweeper and the queue; for admins."""
        return await self._wire.value(ApiRequest(path="/api/system"), System)

    async def me(self) -> Me:
        """The user and the role of this client's token."""
        return await self._wire.value(ApiRequest(path="/api/me"), Me)
