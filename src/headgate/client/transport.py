"""Requests to one server, repeated where that is safe."""

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
    """Times of a client in seconds; a program with its own clock passes its own `sleep`."""

    tries: int = 4
    """Tries of requests that are safe to repeat."""
    first_s: float = 0.25
    """Wait before the second try; doubles before each further one."""
    longest_s: float = 30.0
    """Longest wait between two tries, whatever the server asks for."""
    poll_s: float = 0.25
    """First wait between two polls; later ones are longer."""
    longest_poll_s: float = 5.0
    connect_s: float = 10.0
    answer_s: float = 120.0
    """Time without a byte after which a connection counts as broken."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def before(self, number: int, asked_s: float | None = None) -> float:
        """Seconds to wait before a try: what the server asked for, or the own growing wait."""
        own: float = self.first_s * 2 ** (number - 2)
        return min(max(asked_s or 0.0, own), self.longest_s)

    def polls(self, count: int) -> float:
        """Seconds to wait after this number of polls."""
        growth: float = 1.5 ** min(count, 20)
        return min(self.poll_s * growth, self.longest_poll_s)


Answer = TypeVar("Answer")
SAFE = frozenset({"GET", "HEAD"})
AGAIN = frozenset({0, 429, 502, 503, 504})
"""Statuses for which a repeat may succeed; 0: no response arrived."""
NO_ANSWER = (aiohttp.ClientError, asyncio.TimeoutError, OSError)


class ApiRequest(msgspec.Struct, frozen=True, kw_only=True):
    method: str = "GET"
    path: str
    params: Params = {}
    body: Callable[[], Any] | None = None
    """Makes a new body for each try."""
    headers: Mapping[str, str] = {}
    absent: type[NotFound] = NotFound
    """The class of the error for a 404."""
    again: bool = False
    """Whether a repeat is safe although the request changes something: its key counts once."""
    fine: frozenset[int] = frozenset()
    """Statuses beside 2xx that do not raise."""


class Transport:
    """A connection to a server. The token is sent only to this server, and never shown."""

    def __init__(self, url: str, token: str, timeouts: ClientTimeouts) -> None:
        self._root = _root(url)
        self._token = token
        self._timeouts = timeouts
        self._session: aiohttp.ClientSession | None = None

    @property
    def url(self) -> str:
        return self._root

    async def open(self) -> None:
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        timeout = aiohttp.ClientTimeout(
            total=None, connect=self._timeouts.connect_s, sock_read=self._timeouts.answer_s
        )
        self._session = aiohttp.ClientSession(headers=headers, timeout=timeout)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def value(self, ask: ApiRequest, kind: type[Answer]) -> Answer:
        """Send a request, and decode the response."""
        headers = {"Accept": "application/json", **ask.headers}
        async with self.reply(msgspec.structs.replace(ask, headers=headers)) as reply:
            body = await _body(reply)
        try:
            return msgspec.json.decode(body, type=kind)
        except msgspec.MsgspecError as error:
            raise ApiError(
                reply.status, f"{self._root} is not a Headgate server: {error}"
            ) from error

    async def done(self, ask: ApiRequest) -> None:
        """Send a request without reading the response."""
        async with self.reply(ask):
            pass

    @asynccontextmanager
    async def reply(self, ask: ApiRequest) -> AsyncIterator[aiohttp.ClientResponse]:
        """Yield a successful response; raise ApiError for any other."""
        reply = await self._tried(ask)
        try:
            yield reply
        except NO_ANSWER as error:
            raise self._unreachable(error) from error
        finally:
            reply.release()

    async def rest(self, seconds: float) -> None:
        """Wait with the client's own `sleep`."""
        await self._timeouts.sleep(seconds)

    async def _tried(self, ask: ApiRequest) -> aiohttp.ClientResponse:
        tries = self._timeouts.tries if ask.again or ask.method in SAFE else 1
        number = 1
        while True:
            try:
                return await self._once(ask)
            except ApiError as error:
                if number >= tries or error.status not in AGAIN:
                    raise
                number += 1
                await self.rest(self._timeouts.before(number, error.retry_after_s))

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
            allow_redirects=False,  # the token is for this server only
        )

    async def _refusal(self, reply: aiohttp.ClientResponse, ask: ApiRequest) -> ApiError:
        async with reply:
            body = await _body(reply)
        if 300 <= reply.status < 400:
            where = without_secrets(reply.headers.get("Location", "elsewhere"))
            return ApiError(reply.status, f"{self._root} redirects to {where}: use that address")
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
        raise Unavailable(0, f"the connection broke within the response: {error}") from error


def _root(url: str) -> str:
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UsageError(
            f"{without_secrets(url)!r} is not the address of a server; write http://HOST:PORT"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError("the address of a server may not contain a token: set HEADGATE_TOKEN")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def segment(text: str) -> str:
    """Quote a text as one segment of a path."""
    return quote(text, safe="")


def as_json(value: Any) -> tuple[Callable[[], bytes], Mapping[str, str]]:
    """A JSON body, and its header."""
    body = msgspec.json.encode(value)
    return lambda: body, {"Content-Type": "application/json"}
