"""Gzip compression of API responses."""

import asyncio
import gzip

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headgate.app.api.ui import takes_packed

LEAST_BYTES = 1_000
"""Smaller responses are sent uncompressed. `/api/me` and `/api/session` stay below this size: they
hold a secret, and the length of compressed data reveals its content."""
IN_THREAD_BYTES = 256 * 1024
LEVEL = 4
"""Level 4 makes rows ten times smaller. Higher levels gain little."""


class Compression:
    """Compresses JSON responses that have one chunk. Streams and files are sent unchanged."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/api/"):
            await self._app(scope, receive, send)
            return
        takes = takes_packed(Headers(scope=scope).get("accept-encoding", ""))
        await self._app(scope, receive, _Packer(send, packs=takes).send)


class _Packer:
    def __init__(self, send: Send, *, packs: bool) -> None:
        self._send = send
        self._packs = packs
        self._start: Message | None = None

    async def send(self, message: Message) -> None:
        """Hold back the response head until the size of the body is known."""
        if message["type"] == "http.response.start" and _is_json(message):
            self._start = message
            return
        if self._start is not None:
            start, self._start = self._start, None
            message = await self._packed(start, message)
            await self._send(start)
        await self._send(message)

    async def _packed(self, start: Message, body: Message) -> Message:
        headers = MutableHeaders(scope=start)
        headers.add_vary_header("Accept-Encoding")
        content = body.get("body", b"")
        if not self._packs or body.get("more_body") or len(content) < LEAST_BYTES:
            return body
        if len(content) < IN_THREAD_BYTES:
            packed = gzip.compress(content, LEVEL, mtime=0)
        else:
            packed = await asyncio.to_thread(gzip.compress, content, LEVEL, mtime=0)
        headers["Content-Encoding"] = "gzip"
        headers["Content-Length"] = str(len(packed))
        return {**body, "body": packed}


def _is_json(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    kind = headers.get("content-type", "").partition(";")[0]
    plain = "content-encoding" not in headers
    return plain and kind in {"application/json", "application/problem+json"}
