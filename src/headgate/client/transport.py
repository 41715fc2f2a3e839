"""Requests to one server: sent, tried again where that is safe, answered or explained."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import aiohttp
import msgspec

from headgate.client.errors import ApiError, NotFound, Unavailable, error_of
from headgate.client.values import Params
from headgate.core.errors import UsageError
from headgate.core.redact_values import without_secrets


class ClientTimeouts(msgspec.Struct, frozen=True):
    """Waits of a client; a program with a clock of its own passes its own `sleep`."""

    tries: int = 4
    """Of requests that change nothing, or count once however often they are sent."""
    first_s: float = 0.25
    """Before the second try; twice as long before each further one."""
    longest_s: float = 30.0
    """The longest wait between two tries, whatever the server asks for."""
    poll_s: float = 0.25
    """Between two looks at something that is under way, at first; longer as time goes on."""
    longest_poll_s: float = 5.0
    connect_s: float = 10.0
    answer_s: float = 120.0
    """Without a byte for so long, a connection counts as broken."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def before(self, number: int, asked_s: float | None = None) -> float:
        """How long to wait before that try: what the server asked for, else ever longer."""
        own: float = self.first_s * 2 ** (number - 2)
        return min(max(asked_s or 0.0, own), self.longest_s)

    def polls(self, looks: int) -> float:
        """How long to wait after so many looks."""
        growth: float = 1.5 ** min(looks, 20)
        return min(self.poll_s * growth, self.longest_poll_s)


Answer = TypeVar("Answer")
SAFE = frozenset({"GET", "HEAD"})
AGAIN = frozenset({0, 429, 502, 503, 504})
"""What may be different at the next try; 0: there was no answer."""
NO_ANSWER = (aiohttp.ClientError, asyncio.TimeoutError, OSError)


class ApiRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request."""

    method: str = "GET"
    path: str
    params: Params = {}
    body: Callable[[], Any] | None = None
    """Makes the body anew for each try."""
    headers: Mapping[str, str] = {}
    absent: type[NotFound] = NotFound
    """What a 404 means."""
    again: bool = False
    """Whether it may be sent again though it changes something: its key makes it count once."""
    fine: frozenset[int] = frozenset()
    """Statuses beside 2xx that are answers."""


class Transport:
    """A connection to a server. The token is sent to this server alone, and never shown."""

    def __init__(self, url: str, token: str, patience: ClientTimeouts) -> None:
        self._root = _root(url)
        self._token = token
        self._patience = patience
        self._session: aiohttp.ClientSession | None = None

    @property
    def url(self) -> str:
        """Where the server is."""
        return self._root

    async def open(self) -> None:
        """Get ready to ask."""
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        timeout = aiohttp.ClientTimeout(
            total=None, connect=self._patience.connect_s, sock_read=self._patience.answer_s
        )
        self._session = aiohttp.ClientSession(headers=headers, timeout=timeout)

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def value(self, ask: ApiRequest, kind: type[Answer]) -> Answer:
        """The answer to a request, as a value of that type."""
        headers = {"Accept": "application/json", **ask.headers}
        async with self.reply(msgspec.structs.replace(ask, headers=headers)) as reply:
            body = await _body(reply)
        try:
            return msgspec.json.decode(body, type=kind)
        except msgspec.MsgspecError as error:
            raise ApiError(
                reply.status, f"{self._root} does not answer as Headgate does: {error}"
            ) from error

    async def done(self, ask: ApiRequest) -> None:
        """Send a request whose answer says nothing."""
        async with self.reply(ask):
            pass

    @asynccontextmanager
    async def reply(self, ask: ApiRequest) -> AsyncIterator[aiohttp.ClientResponse]:
        """An answer that is one: anything else is an ApiError."""
        reply = await self._tried(ask)
        try:
            yield reply
        except NO_ANSWER as error:
            raise self._unreachable(error) from error
        finally:
            reply.release()

    async def rest(self, seconds: float) -> None:
        """Wait, as everybody does who uses this connection."""
        await self._patience.sleep(seconds)

    async def _tried(self, ask: ApiRequest) -> aiohttp.ClientResponse:
        tries = self._patience.tries if ask.again or ask.method in SAFE else 1
        number = 1
        while True:
            try:
                return await self._once(ask)
            except ApiError as error:
                if number >= tries or error.status not in AGAIN:
                    raise
                number += 1
                await self.rest(self._patience.before(number, error.retry_after_s))

    async def _once(self, ask: ApiRequest) -> aiohttp.ClientResponse:
        try:
            reply = await self._sent(ask)
        except NO_ANSWER as error:
            raise self._unreachable(error) from error
        if 200 <= reply.status < 300 or reply.status in ask.fine:
            return reply
        raise await self._refusal(reply, ask)

    async def _sent(self, ask: ApiRequest) -> aiohttp.ClientResponse:
        if self._session is None:
            raise UsageError("the client is not open: use it as `async with Client(…) as client:`")
        return await self._session.request(
            ask.method,
            self._root + ask.path,
            params=ask.params,
            data=ask.body() if ask.body else None,
            headers=ask.headers,
            allow_redirects=False,  # the token is for this server alone
        )

    async def _refusal(self, reply: aiohttp.ClientResponse, ask: ApiRequest) -> ApiError:
        async with reply:
            body = await _body(reply)
        if 300 <= reply.status < 400:
            where = without_secrets(reply.headers.get("Location", "elsewhere"))
            return ApiError(reply.status, f"{self._root} sends us to {where}: ask there instead")
        error = error_of(reply.status, body, ask.absent)
        asked = reply.headers.get("Retry-After", "")
        error.retry_after_s = float(asked) if asked.isdigit() else None
        return error

    def _unreachable(self, error: BaseException) -> Unavailable:
        reason = str(error) or type(error).__name__
        return Unavailable(0, f"{self._root} does not answer: {reason}")


async def _body(reply: aiohttp.ClientResponse) -> bytes:
    try:
        return await reply.read()
    except NO_ANSWER as error:
        raise Unavailable(0, f"the answer broke off: {error}") from error


def _root(url: str) -> str:
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UsageError(
            f"{without_secrets(url)!r} is no address of a server; write http://HOST:PORT"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError("an address of a server holds no token: give it as HEADGATE_TOKEN")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def segment(text: str) -> str:
    """A text as one step of a path, whatever it holds."""
    return quote(text, safe="")


def as_json(value: Any) -> tuple[Callable[[], bytes], Mapping[str, str]]:
    """A body of JSON, and the header that says so."""
    body = msgspec.json.encode(value)
    return lambda: body, {"Content-Type": "application/json"}
