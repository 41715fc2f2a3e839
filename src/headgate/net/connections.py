"""HTTP connections: idle ones are reused, new ones are made where the address guard allows it.

aiohttp's connector does the work. Its session is left out: what the session does for every request,
from cookies to timers and redirects, is done elsewhere in this package or not wanted.

The guard checks the address of a URL from data when the connection is made: an earlier check would
leave a gap in which a name could change its address. So the resolver drops special addresses, and
no socket is made for a special address. Guarded connections have their own pool: a connection that
was made without a check must not be reused for a guarded request.
"""

import socket
from collections.abc import Callable
from typing import Any, Final, NamedTuple
from weakref import WeakSet

import aiohttp
from aiohttp import ThreadedResolver, hdrs
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http import RawResponseMessage
from aiohttp.streams import StreamReader
from yarl import URL

from headgate.core.address import address_refusal
from headgate.net.failure import AddressRefused
from headgate.ports.wire import WireRequest

SocketFactory = Callable[["AddressInfo"], socket.socket]
AddressInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[Any, ...]]


class GuardedResolver(AbstractResolver):
    def __init__(self, resolver: AbstractResolver | None = None) -> None:
        self._resolver = resolver or ThreadedResolver()

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_INET,
    ) -> list[ResolveResult]:
        found = await self._resolver.resolve(host, port, family)
        public = [one for one in found if address_refusal(one["host"]) is None]
        if found and not public:
            raise AddressRefused(host, str(address_refusal(found[0]["host"])))
        return public

    async def close(self) -> None:
        await self._resolver.close()


def guarded_socket(address: AddressInfo) -> socket.socket:
    """Return a socket for a public address; AddressRefused for any other."""
    family, kind, protocol, _, place = address
    refusal = address_refusal(str(place[0]))
    if refusal is not None:
        raise AddressRefused(str(place[0]), refusal)
    return socket.socket(family, kind, protocol)


BUFFER = 64 * 1024
"""Bytes of each body that may be buffered before its server must wait; aiohttp doubles it."""


class Destination(NamedTuple):
    host: str
    """The value of the Host header."""
    address: aiohttp.ClientRequest
    """The connector's key for this destination; it is never sent."""


class HttpConnections:
    """Open connections to all destinations, without a limit: the gates limit their number."""

    MOST = 20_000
    """Most destinations that are remembered."""

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
        found = self._destinations.get(origin)
        if found is None:
            if len(self._destinations) >= self.MOST:
                self._destinations.clear()
            address = aiohttp.ClientRequest(hdrs.METH_GET, URL(origin, encoded=True))
            found = Destination(address.headers[hdrs.HOST], address)
            self._destinations[origin] = found
        return found

    async def open(self, destination: Destination, connect_s: float) -> tuple[Connection, bool]:
        """Return a connection, and whether it was used before; the caller releases or closes it."""
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
            # More bytes have come than the last response announced: they would be read as the next
            # one.
            connection.close()

    async def close(self) -> None:
        await self._connector.close()


async def exchange(
    connection: Connection, request: bytes, body: bytes | None, *, bodiless: bool
) -> tuple[RawResponseMessage, StreamReader]:
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


def release(connection: Connection) -> None:
    """Release the connection for reuse, unless part of the request is still being sent."""
    transport = connection.transport
    if transport is not None and transport.get_write_buffer_size():
        connection.close()
    else:
        connection.release()


_OURS: Final = frozenset({"host", "content-length", "transfer-encoding"})
"""Callers may not set these: a forged length could hide one request in another."""
_MAY_LACK_BODY: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
"""Methods for which an empty body sends no Content-Length."""


def split_url(url: str) -> tuple[str, str]:
    end = url.find("/", len("https://"))
    if end < 0:
        return url, "/"
    mark = url.find("#", end)
    return url[:end], url[end:] if mark < 0 else url[end:mark]


def head_of(request: WireRequest, host: str, target: str) -> bytes:
    """Return all lines up to the body; ValueError if a value contains a line break."""
    method, headers, body = request.method, request.headers, request.body
    lines = [f"{method} {target} HTTP/1.1", f"host: {dict(headers).get('host', host)}"]
    lines += [f"{name}: {value}" for name, value in headers if name not in _OURS]
    if body or method not in _MAY_LACK_BODY:
        lines.append(f"content-length: {len(body or b'')}")
    text = "\n".join(lines)
    if text.count("\n") >= len(lines) or "\r" in text or "\0" in text:
        raise ValueError("the URL or a header contains a line break or a null character")
    return f"{text}\n\n".replace("\n", "\r\n").encode()
