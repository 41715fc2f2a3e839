"""The TCP server under every hand-written server of tests and benchmarks.

It listens on loopback, counts connections and stops; what is said on a connection is up to a
handler. `Listener` runs in the caller's event loop, `TcpServer` in a thread of its own.
"""

import asyncio
import ssl
import threading
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

from tests.kit.ports import LOOPBACK

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[object]]
"""Serves one connection, which is closed when it returns. `stop` cancels it."""
HEAD_BYTES = 64 * 1024


class Listener:
    """Keeps its port over `stop` and `start`."""

    def __init__(self, handler: Handler, tls: ssl.SSLContext | None = None) -> None:
        self._handler = handler
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.connections = 0
        """Connections accepted until now."""

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    def url(self, path: str = "/", host: str = LOOPBACK, scheme: str = "http") -> str:
        """`localhost` is another host on the same port."""
        return f"{scheme}://{host}:{self.port}{path}"

    async def start(self) -> None:
        self._server = await asyncio.start_server(
            self._serve, LOOPBACK, self.port, limit=HEAD_BYTES, backlog=1024, ssl=self._tls
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Abort every connection and refuse new ones."""
        if self._server is None:
            return
        server, self._server = self._server, None
        server.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        # Bytes that were written are in the kernel when `drain` returns.
        writer.transport.set_write_buffer_limits(0)
        try:
            await self._handler(reader, writer)
            writer.close()
            await writer.wait_closed()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            self._tasks.discard(task)


class TcpServer:
    """A listener with an event loop in a thread of its own, for callers without one."""

    def __init__(self, handler: Handler, tls: ssl.SSLContext | None = None) -> None:
        self._listener = Listener(handler, tls)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def port(self) -> int:
        return self._listener.port

    @property
    def connections(self) -> int:
        """Connections accepted until now."""
        return self._listener.connections

    def url(self, path: str = "/", host: str = LOOPBACK, scheme: str = "http") -> str:
        """`localhost` is another host on the same port."""
        return self._listener.url(path, host, scheme)

    def start(self) -> None:
        asyncio.run_coroutine_threadsafe(self._listener.start(), self._loop).result()

    def stop(self) -> None:
        """Abort every connection and refuse new ones."""
        asyncio.run_coroutine_threadsafe(self._listener.stop(), self._loop).result()


async def head_of(reader: asyncio.StreamReader) -> str:
    """The request line and the headers; less, if the client leaves before their end."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as short:
        head = short.partial
    return head.decode("latin-1")


def http_reply(status: str, headers: dict[str, str] | None = None, body: bytes = b"") -> bytes:
    """The bytes of a reply, with the length of its body unless `headers` states another one."""
    stated = {"Content-Length": str(len(body)), "Connection": "close", **(headers or {})}
    lines = "".join(f"{name}: {value}\r\n" for name, value in stated.items() if value)
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


def replying(reply: bytes) -> Handler:
    """Reads one request and sends these bytes."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head_of(reader)
        writer.write(reply)
        await writer.drain()

    return handler


def repeating(
    piece: bytes, every_s: float = 0.0, *, first: bytes = b"", after_request: bool = True
) -> Handler:
    """Sends `first` (`after_request` or at once), then `piece` until the client leaves."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if after_request:
            await head_of(reader)
        writer.write(first)
        while True:
            await writer.drain()
            await asyncio.sleep(every_s)  # noqa: TID251  the server is slow on purpose
            writer.write(piece)

    return handler
