"""The wire over aiohttp: one request out, one reply in, and nothing it was not told to do."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
from aiohttp import hdrs
from aiohttp.abc import AbstractResolver
from yarl import URL

from headgate.core.inflation import InflationLimit
from headgate.core.url import shown
from headgate.net.failure import FailureKind, WireFailure
from headgate.net.fields import folded
from headgate.net.guard import GuardedResolver, SocketFactory, guarded_socket
from headgate.net.unpacking import BadEncoding, Bomb, Unpacking, encoding_of
from headgate.net.watch import Wait, Watch
from headgate.ports.wire import WireRequest

NOT_OURS = ("Content-Type",)
"""What aiohttp would add by itself to a request with a body."""
BUFFER = 64 * 1024
"""What may lie ready of each body before its server is made to wait; aiohttp doubles it."""


class AiohttpReply:
    """The head of a reply over aiohttp."""

    __slots__ = (
        "_content",
        "_encoding",
        "_inflation",
        "_response",
        "_url",
        "_wait",
        "_watch",
        "headers",
        "status",
    )

    def __init__(
        self,
        response: aiohttp.ClientResponse,
        url: str,
        watch: Watch,
        wait: Wait,
        inflation: InflationLimit,
    ) -> None:
        self._response = response
        self._content = response.content
        self._url = url
        self._watch = watch
        self._wait = wait
        self.status = response.status
        self.headers = [(name.lower(), value) for name, value in response.headers.items()]
        packed = hdrs.CONTENT_ENCODING in response.headers
        self._encoding = encoding_of(folded(self.headers)) if packed else ""
        self._inflation = inflation

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives, with its content encoding undone."""
        return self._unpacked() if self._encoding else self._pieces()

    async def read(self, limit: int) -> bytes | None:
        """The whole body; None if it is larger than that."""
        if self._encoding:
            return await gathered(self._unpacked(), limit)
        pieces: list[bytes] = []
        size = 0
        while not self._content.at_eof():
            piece = await self._piece()
            size += len(piece)
            if size > limit:
                return None
            pieces.append(piece)
        self._watch.end(self._wait)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    async def close(self) -> None:
        """Give the connection back, or drop it if the body was not read to its end."""
        self._watch.end(self._wait)
        self._response.release()

    async def _pieces(self) -> AsyncIterator[bytes]:
        while not self._content.at_eof():
            piece = await self._piece()
            if piece:
                yield piece
        self._watch.end(self._wait)

    async def _unpacked(self) -> AsyncIterator[bytes]:
        unpacking: Unpacking | None = None
        try:
            async for piece in self._pieces():
                unpacking = unpacking or Unpacking(self._encoding, self._inflation)
                for unpacked in unpacking.feed(piece):
                    yield unpacked
            if unpacking is not None:
                unpacking.finish()
        except (BadEncoding, Bomb) as error:
            self._watch.end(self._wait)
            self._response.close()
            raise self._spoilt(error) from None

    def _spoilt(self, error: BadEncoding | Bomb) -> WireFailure:
        place = shown(self._url)
        if isinstance(error, Bomb):
            return WireFailure(FailureKind.BOMB, f"{place} sent a bomb: {error}", sent=True)
        words = f"{place} sent a body that cannot be unpacked as {error}"
        return WireFailure(FailureKind.ENCODING, words, sent=True)

    async def _piece(self) -> bytes:
        """What has arrived, or what arrives next."""
        wait = self._wait
        try:
            if piece := self._content.read_nowait():
                return piece
            wait.since_s = self._watch.time()
            wait.task = asyncio.current_task()
            piece = await self._content.readany()
        except BaseException as error:
            self._watch.end(wait)
            self._response.close()
            if failure := failure_of(error, self._url, wait):
                raise failure from None
            raise
        wait.task = None
        return piece


async def gathered(pieces: AsyncIterator[bytes], limit: int) -> bytes | None:
    """All of it; None if that is more than `limit`."""
    body = bytearray()
    async for piece in pieces:
        body += piece
        if len(body) > limit:
            return None
    return bytes(body)


class AiohttpWire:
    """Sends requests over one shared pool of connections, and guarded ones over another."""

    def __init__(
        self, *, allow_private: bool = False, inflation: InflationLimit | None = None
    ) -> None:
        self._allow_private = allow_private
        self._inflation = inflation or InflationLimit()
        self._watch: Watch | None = None
        self._open: aiohttp.ClientSession | None = None
        self._guarded: aiohttp.ClientSession | None = None
        self._connect_limits: dict[float, aiohttp.ClientTimeout] = {}

    async def send(self, request: WireRequest) -> AiohttpReply:
        """Return when the head of the reply is there; WireFailure or AddressRefused otherwise."""
        session = self._open
        if session is None or request.guarded:
            session = self._session(guarded=request.guarded)
        watch = self._watch or self._begin_watch()
        wait = watch.begin(request.patience)
        try:
            response = await session.request(
                request.method,
                URL(request.url, encoded=True),
                headers=request.headers,
                data=request.body,
                skip_auto_headers=NOT_OURS if request.body else None,
                allow_redirects=False,
                timeout=self._connect_limit(request.patience.connect_s),
            )
        except BaseException as error:
            watch.end(wait)
            # Without its cause: aiohttp's words name the whole URL, in which a key may stand.
            if failure := failure_of(error, request.url, wait):
                raise failure from None
            raise
        wait.task = None
        return AiohttpReply(response, request.url, watch, wait, self._inflation)

    async def close(self) -> None:
        """Close every connection."""
        for session in (self._open, self._guarded):
            if session is not None:
                await session.close()
        self._open = self._guarded = None

    def _begin_watch(self) -> Watch:
        self._watch = Watch(asyncio.get_running_loop())
        return self._watch

    def _session(self, *, guarded: bool) -> aiohttp.ClientSession:
        if guarded and not self._allow_private:
            if self._guarded is None:
                self._guarded = _session(GuardedResolver(), guarded_socket)
            return self._guarded
        if self._open is None:
            self._open = _session(aiohttp.ThreadedResolver(), None)
        return self._open

    def _connect_limit(self, connect_s: float) -> aiohttp.ClientTimeout:
        """Only connections are aiohttp's to time: the rest is watched over."""
        found = self._connect_limits.get(connect_s)
        if found is None:
            found = aiohttp.ClientTimeout(total=None, connect=connect_s)
            self._connect_limits[connect_s] = found
        return found


def _session(
    resolver: AbstractResolver, socket_factory: SocketFactory | None
) -> aiohttp.ClientSession:
    # The gates say how many requests are under way, so the pool need not.
    connector = aiohttp.TCPConnector(limit=0, resolver=resolver, socket_factory=socket_factory)
    jar = aiohttp.DummyCookieJar()
    session = aiohttp.ClientSession(
        connector=connector,
        cookie_jar=jar,
        trust_env=False,
        auto_decompress=False,
        read_bufsize=BUFFER,
    )
    # It would send some requests twice behind the back of gates and records.
    session._retry_connection = False  # noqa: SLF001 (there is no other switch)
    return session


def failure_of(error: BaseException, url: str, wait: Wait) -> WireFailure | None:
    """What an error means, in words that tell no secrets; None if it is none of the network."""
    place = shown(url)
    match error:
        case asyncio.CancelledError():
            why = wait.overdue()
            return WireFailure(FailureKind.TIMEOUT, f"{place} {why}", sent=True) if why else None
        case aiohttp.ConnectionTimeoutError():
            words = f"no connection to {place} in time"
            return WireFailure(FailureKind.TIMEOUT, words, sent=False)
        case aiohttp.ClientConnectorDNSError():
            return WireFailure(FailureKind.DNS, f"no address is known for {place}", sent=False)
        case aiohttp.ClientSSLError():
            words = f"no secure connection to {place}: {_why(error)}"
            return WireFailure(FailureKind.TLS, words, sent=False)
        case aiohttp.ClientConnectorError():
            words = f"no connection to {place}: {_why(error)}"
            return WireFailure(FailureKind.CONNECT, words, sent=False)
        case aiohttp.ClientPayloadError():
            return WireFailure(FailureKind.CUT, f"{place} cut its answer short", sent=True)
        case aiohttp.ClientConnectionError() | OSError():
            words = f"{place} closed the connection without an answer"
            return WireFailure(FailureKind.CUT, words, sent=True)
        case aiohttp.ClientError():
            words = f"{place} does not speak HTTP as it should: {type(error).__name__}"
            return WireFailure(FailureKind.PROTOCOL, words, sent=True)
        case _:
            return None


def _why(error: aiohttp.ClientConnectorError | aiohttp.ClientSSLError) -> str:
    cause = getattr(error, "os_error", None) or getattr(error, "certificate_error", None)
    return str(getattr(cause, "strerror", None) or getattr(cause, "reason", None) or "refused")
