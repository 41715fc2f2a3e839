"""An HTTP server that misbehaves by script and logs every request."""

import asyncio
import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from typing import NamedTuple

from tests.kit.answers import Answer, Request, Script, always
from tests.kit.tcp_server import TcpServer

NO_BODY = frozenset({204, 304})


class Seen(NamedTuple):
    """One request as it went, in seconds of the monotonic clock, which all processes share."""

    request: Request
    status: int
    """What was answered; 0 if nothing was."""
    arrived_s: float
    """When its last byte was there."""
    ended_s: float
    """When the last byte of the answer was given away, or the client had gone."""
    complete: bool
    """Whether the whole answer was given away."""


class Provider(TcpServer):
    """What it answers is up to `script`, which may change at any time."""

    def __init__(self, script: Script | None = None) -> None:
        super().__init__(self._serve)
        self.script: Script = script or always(Answer(200, body=b"hello"))
        self._seen: list[Seen] = []
        self._under_way: Counter[str] = Counter()
        self._overlap: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def seen(self) -> list[Seen]:
        """Requests that have ended, in that order. A client may know a moment earlier."""
        with self._lock:
            return list(self._seen)

    def under_way(self, host: str | None = None) -> int:
        """Requests that have arrived and whose answers have not ended; of one Host, or of all."""
        with self._lock:
            return self._under_way.total() if host is None else self._under_way[host]

    def overlap(self, host: str) -> int:
        """The most requests for one Host header that were ever under way together."""
        with self._lock:
            return self._overlap[host]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (request := await _read_request(reader)) is not None:
            if not await self._answer(request, reader, writer):
                break

    async def _answer(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Whether the connection may be used again."""
        arrived = time.monotonic()
        self._begin(request.host)
        answer = self.script(request)
        complete = False
        try:
            if answer.silent:
                await reader.read()
            elif not answer.hang_up:
                complete = await _give(request, answer, writer)
                if answer.hold:
                    await reader.read()
        finally:
            status = 0 if answer.silent or answer.hang_up else answer.status
            self._end(Seen(request, status, arrived, time.monotonic(), complete))
        return complete and request.headers.get("connection", "").lower() != "close"

    def _begin(self, host: str) -> None:
        with self._lock:
            self._under_way[host] += 1
            self._overlap[host] = max(self._overlap[host], self._under_way[host])

    def _end(self, seen: Seen) -> None:
        with self._lock:
            self._under_way[seen.request.host] -= 1
            self._seen.append(seen)


def wait_until(condition: Callable[[], object], patience_s: float = 60.0) -> None:
    """Return as soon as something about the other thread is true."""
    deadline = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("what was waited for did not happen")
        time.sleep(0.005)


async def _read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request; None when the client has gone."""
    with contextlib.suppress(asyncio.IncompleteReadError):
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").rstrip().split("\r\n")
        method, target, _ = first.split(" ", 2)
        fields = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in fields}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        return Request(method, target, headers, body)
    return None


async def _give(request: Request, answer: Answer, writer: asyncio.StreamWriter) -> bool:
    """Whether all of the answer was given away."""
    if answer.delay_s:
        await asyncio.sleep(answer.delay_s)  # noqa: TID251  the server is slow on purpose
    writer.write(_head(answer))
    body = b"" if request.method == "HEAD" or answer.status in NO_BODY else answer.body
    whole = answer.cut_at is None or answer.cut_at >= len(body)
    body = body[: answer.cut_at]
    if answer.drip_s:
        for place in range(len(body)):
            await writer.drain()
            await asyncio.sleep(answer.drip_s)  # noqa: TID251  the server is slow on purpose
            writer.write(body[place : place + 1])
    else:
        writer.write(body)
    await writer.drain()
    return whole


def _head(answer: Answer) -> bytes:
    headers = list(answer.headers)
    names = {name.lower() for name, _ in headers}
    if answer.status not in NO_BODY and not names & {"content-length", "transfer-encoding"}:
        headers.append(("Content-Length", str(len(answer.body))))
    try:
        reason = HTTPStatus(answer.status).phrase
    except ValueError:
        reason = "Whatever"
    lines = [f"HTTP/1.1 {answer.status} {reason}", *(f"{name}: {text}" for name, text in headers)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
