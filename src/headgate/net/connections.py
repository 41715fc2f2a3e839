"""Connections: one that is at rest is used again, a new one is made where the guard allows it.

aiohttp's connector does the work. Its session is left out: what that does for every request, from
cookies to timers and redirects, is either done elsewhere here or not wanted at all.
"""

from typing import Final, NamedTuple
from weakref import WeakSet

import aiohttp
from aiohttp import hdrs
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http import RawResponseMessage
from aiohttp.streams import StreamReader
from yarl import URL

from headgate.net.guard import GuardedResolver, guarded_socket
from headgate.ports.wire import WireRequest

BUFFER = 64 * 1024
"""What may lie ready of each body before its server is made to wait; aiohttp doubles it."""


class Destination(NamedTuple):
    """Where requests go."""

    host: str
    """As the header wants it."""
    address: aiohttp.ClientRequest
    """What the connector knows it by; it is never sent."""


class HttpConnections:
    """Open ones to all destinations. The gates say how many are in use, so this need not."""

    MOST = 20_000
    """Destinations that are remembered; enough for all that are in use at a time."""

    def __init__(self, *, guarded: bool) -> None:
        self._connector = aiohttp.TCPConnector(
            limit=0,
            resolver=GuardedResolver() if guarded else aiohttp.ThreadedResolver(),
            socket_factory=guarded_socket if guarded else None,
        )
        self._destinations: dict[str, Destination] = {}
        self._limits: dict[float, aiohttp.ClientTimeout] = {}
        self._known: WeakSet[ResponseHandler] = WeakSet()

    def destination(self, origin: str) -> Destination:
        """That of `https://host:port`."""
        found = self._destinations.get(origin)
        if found is None:
            if len(self._destinations) >= self.MOST:
                self._destinations.clear()
            address = aiohttp.ClientRequest(hdrs.METH_GET, URL(origin, encoded=True))
            found = Destination(address.headers[hdrs.HOST], address)
            self._destinations[origin] = found
        return found

    async def open(self, destination: Destination, connect_s: float) -> tuple[Connection, bool]:
        """One that is ready to be used, and whether it was before; to be released or closed."""
        limit = self._limits.get(connect_s)
        if limit is None:
            limit = self._limits[connect_s] = aiohttp.ClientTimeout(total=None, connect=connect_s)
        while True:
            try:
                connection = await self._connector.connect(destination.address, [], limit)
            except TimeoutError as error:
                raise aiohttp.ConnectionTimeoutError from error
            protocol = connection.protocol
            if protocol is not None and protocol not in self._known:
                self._known.add(protocol)
                return connection, False
            if protocol is None or not protocol.should_close:
                return connection, True
            # More has come than its last answer announced: it would be taken for the next one.
            connection.close()

    async def close(self) -> None:
        """Close all of them."""
        await self._connector.close()


async def exchange(
    connection: Connection, request: bytes, body: bytes | None, *, bodiless: bool
) -> tuple[RawResponseMessage, StreamReader]:
    """Send a request and wait for the head of its answer, which has no body to a HEAD."""
    protocol = connection.protocol
    if protocol is None or protocol.transport is None or protocol.transport.is_closing():
        raise aiohttp.ClientConnectionResetError
    protocol.set_response_params(
        skip_payload=bodiless, read_until_eof=True, auto_decompress=False, read_bufsize=BUFFER
    )
    if body:
        protocol.transport.writelines((request, body))
    else:
        protocol.transport.write(request)
    while True:
        message, content = await protocol.read()
        if message.code >= 200 or message.code == 101:
            return message, content


def let_go(connection: Connection) -> None:
    """Keep it for the next request, unless something of this one is still on its way."""
    transport = connection.transport
    if transport is not None and transport.get_write_buffer_size():
        connection.close()
    else:
        connection.release()


_OURS: Final = frozenset({"host", "content-length", "transfer-encoding"})
"""Where a request ends is not for others to say, or one could be hidden in another."""
_MAY_LACK_BODY: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
"""These say nothing of a length where there is none."""


def split_url(url: str) -> tuple[str, str]:
    """Scheme and host of a normalized URL, and what that host is asked for."""
    end = url.find("/", len("https://"))
    if end < 0:
        return url, "/"
    mark = url.find("#", end)
    return url[:end], url[end:] if mark < 0 else url[end:mark]


def head_of(request: WireRequest, host: str, target: str) -> bytes:
    """All lines up to the body; ValueError if a part of one would begin another."""
    method, headers, body = request.method, request.headers, request.body
    lines = [f"{method} {target} HTTP/1.1", f"host: {dict(headers).get('host', host)}"]
    lines += [f"{name}: {value}" for name, value in headers if name not in _OURS]
    if body or method not in _MAY_LACK_BODY:
        lines.append(f"content-length: {len(body or b'')}")
    text = "\n".join(lines)
    if text.count("\n") >= len(lines) or "\r" in text or "\0" in text:
        raise ValueError("a request has no line break and no null in its URL or in a header")
    return f"{text}\n\n".replace("\n", "\r\n").encode()
