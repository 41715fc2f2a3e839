"""The wire over aiohttp: sends one request and reads one reply."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Final, NoReturn

import aiohttp
from aiohttp import hdrs
from aiohttp.connector import Connection
from aiohttp.http import HttpProcessingError, RawResponseMessage
from aiohttp.streams import StreamReader

from headgate.core.body_limits import DecompressionLimit
from headgate.core.url import short_url
from headgate.net.connections import BUFFER, HttpConnections, exchange, head_of, release, split_url
from headgate.net.decoding import BadEncoding, BodyDecoder, TooFarDecompressed, encoding_of
from headgate.net.failure import ERRNO_WORDS, IDEMPOTENT, FailureKind, RequestRecalled, WireFailure
from headgate.net.fields import folded
from headgate.net.timeouts import TimedWait, Timeouts
from headgate.ports.wire import WireRequest

MANY: Final = 32
"""Above this number of exchanges, bodies are not read ahead: each would take memory."""
_CLOSED_BY_SERVER: Final = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, ConnectionError)


class _IdleClosedError(Exception):
    """The server closed an idle connection just when it was reused.

    This is not evidence about the request, which may not even have been read.
    """


class AiohttpReply:
    __slots__ = (
        "_connection",
        "_content",
        "_encoding",
        "_inflation",
        "_paused",
        "_url",
        "_wait",
        "_watch",
        "headers",
        "status",
    )

    def __init__(
        self,
        connection: Connection,
        answer: tuple[RawResponseMessage, StreamReader],
        url: str,
        watched: tuple[Timeouts, TimedWait],
        inflation: DecompressionLimit,
    ) -> None:
        message, content = answer
        self._connection: Connection | None = connection
        self._content = content
        self._url = url
        self._watch, self._wait = watched
        self.status = message.code
        self.headers = [(name.lower(), value) for name, value in message.headers.items()]
        packed = hdrs.CONTENT_ENCODING in message.headers
        self._encoding = encoding_of(folded(self.headers)) if packed else ""
        self._inflation = inflation
        self._paused = False
        content.on_eof(self._release)

    def chunks(self) -> AsyncIterator[bytes]:
        return self._unpacked() if self._encoding else self._pieces()

    async def read(self, limit: int) -> bytes | None:
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
        self._watch.end(self._wait)
        self._release()

    def _release(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            release(connection)

    def _abort(self) -> None:
        self._watch.end(self._wait)
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    async def _pieces(self) -> AsyncIterator[bytes]:
        while not self._content.at_eof():
            piece = await self._piece()
            if piece:
                yield piece
        self._watch.end(self._wait)

    async def _unpacked(self) -> AsyncIterator[bytes]:
        unpacking: BodyDecoder | None = None
        try:
            async for piece in self._pieces():
                unpacking = unpacking or BodyDecoder(self._encoding, self._inflation)
                for unpacked in unpacking.feed(piece):
                    yield unpacked
            if unpacking is not None:
                unpacking.finish()
        except (BadEncoding, TooFarDecompressed) as error:
            self._abort()
            raise self._bad_body(error) from None

    def _bad_body(self, error: BadEncoding | TooFarDecompressed) -> WireFailure:
        place = short_url(self._url)
        if isinstance(error, TooFarDecompressed):
            return WireFailure(
                FailureKind.BOMB, f"{place} sent a decompression bomb: {error}", sent=True
            )
        words = f"{place} sent a body that cannot be decoded as {error}"
        return WireFailure(FailureKind.ENCODING, words, sent=True)

    async def _piece(self) -> bytes:
        """Return what has arrived, or wait for the next bytes."""
        wait = self._wait
        try:
            piece = self._content.read_nowait()
            if not piece:
                self._resume()
                wait.since_s = self._watch.time()
                wait.task = asyncio.current_task()
                piece = await self._content.readany()
        except BaseException as error:
            self._abort()
            if failure := failure_of(error, self._url, wait):
                raise failure from None
            raise
        wait.task = None
        if len(piece) >= BUFFER and len(self._watch.waits) > MANY:
            self._pause()
        return piece

    def _pause(self) -> None:
        """Stop reading from the socket until the reader wants more."""
        if not self._paused and self._connection is not None:
            self._paused = True
            if transport := self._connection.transport:
                transport.pause_reading()

    def _resume(self) -> None:
        if self._paused and self._connection is not None:
            self._paused = False
            if transport := self._connection.transport:
                transport.resume_reading()


async def gathered(pieces: AsyncIterator[bytes], limit: int) -> bytes | None:
    body = bytearray()
    async for piece in pieces:
        body += piece
        if len(body) > limit:
            return None
    return bytes(body)


class AiohttpWire:
    """Sends requests over a shared pool of connections, and guarded ones over another."""

    def __init__(
        self, *, allow_private: bool = False, inflation: DecompressionLimit | None = None
    ) -> None:
        self._allow_private = allow_private
        self._inflation = inflation or DecompressionLimit()
        self._watch: Timeouts | None = None
        self._open: HttpConnections | None = None
        self._guarded: HttpConnections | None = None

    async def send(
        self, request: WireRequest, recalled: Callable[[], bool] | None = None
    ) -> AiohttpReply:
        while True:
            try:
                return await self._send(request, recalled)
            except _IdleClosedError:
                continue  # ends at the latest with a new connection, whose failure counts

    async def _send(
        self, request: WireRequest, recalled: Callable[[], bool] | None
    ) -> AiohttpReply:
        connections = self._open
        if connections is None or request.guarded:
            connections = self._connections(guarded=request.guarded)
        origin, target = split_url(request.url)
        destination = connections.destination(origin)
        head = head_of(request, destination.host, target)
        watch = self._watch or self._begin_watch()
        wait = watch.begin(request.patience)
        connection: Connection | None = None
        used = False
        try:
            connection, used = await connections.open(destination, request.patience.connect_s)
            if recalled is not None and recalled():
                _recall(connection)
            answer = await exchange(
                connection, head, request.body, bodiless=request.method == hdrs.METH_HEAD
            )
        except BaseException as error:
            watch.end(wait)
            if connection is not None:
                connection.close()
            if used and request.method in IDEMPOTENT and isinstance(error, _CLOSED_BY_SERVER):
                raise _IdleClosedError from None
            # Without its cause: aiohttp's message contains the whole URL, which may hold a key.
            if failure := failure_of(error, request.url, wait):
                raise failure from None
            raise
        wait.task = None
        return AiohttpReply(connection, answer, request.url, (watch, wait), self._inflation)

    async def close(self) -> None:
        for connections in (self._open, self._guarded):
            if connections is not None:
                await connections.close()
        self._open = self._guarded = None

    def _begin_watch(self) -> Timeouts:
        self._watch = Timeouts(asyncio.get_running_loop())
        return self._watch

    def _connections(self, *, guarded: bool) -> HttpConnections:
        if guarded and not self._allow_private:
            if self._guarded is None:
                self._guarded = HttpConnections(guarded=True)
            return self._guarded
        if self._open is None:
            self._open = HttpConnections(guarded=False)
        return self._open


def _recall(connection: Connection) -> NoReturn:
    """Release the connection, on which nothing was sent, and raise RequestRecalled."""
    release(connection)
    raise RequestRecalled


def failure_of(error: BaseException, url: str, wait: TimedWait) -> WireFailure | None:
    """Describe an error without secrets; None if it is not an error of the network."""
    place = short_url(url)
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
            number = error.os_error.errno or 0
            words = f"no connection to {place}: {ERRNO_WORDS.get(number) or _why(error)}"
            return WireFailure(FailureKind.CONNECT, words, sent=False, number=number)
        case aiohttp.ClientPayloadError():
            return WireFailure(
                FailureKind.CUT,
                f"the connection to {place} ended before the answer was complete",
                sent=True,
            )
        case aiohttp.ClientConnectionError() | OSError():
            words = f"{place} closed the connection without an answer"
            return WireFailure(FailureKind.CUT, words, sent=True)
        case aiohttp.ClientError() | HttpProcessingError():
            words = f"{place} sent an invalid HTTP response: {type(error).__name__}"
            return WireFailure(FailureKind.PROTOCOL, words, sent=True)
        case _:
            return None


def _why(error: aiohttp.ClientConnectorError | aiohttp.ClientSSLError) -> str:
    cause = getattr(error, "os_error", None) or getattr(error, "certificate_error", None)
    return str(getattr(cause, "strerror", None) or getattr(cause, "reason", None) or "refused")
