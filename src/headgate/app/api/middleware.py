"""Middleware: the Host check, security headers and compression of responses."""

import asyncio
import gzip
import ipaddress

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headgate.app.api.bodies import NUL, REFUSED
from headgate.app.api.problems import answer
from headgate.app.api.ui import takes_packed
from headgate.app.server_policy import ServerPolicy

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none';"
        " frame-ancestors 'none'; form-action 'self'"
    ),
}
WRITTEN_NUL = b"%00"
LOOPBACK = frozenset({"localhost"})


class SecurityHeaders:
    """Refuses unknown Host names, against DNS rebinding, and sets security headers."""

    def __init__(self, app: ASGIApp, policy: ServerPolicy) -> None:
        self._app = app
        self._names = LOOPBACK | {name.lower() for name in policy.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith("/api"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        host = Headers(scope=scope).get("host", "")
        if not self._known(host):
            refusal = answer(
                421, f"{host[:100]!r} is not a name of this server; add it to `server.hosts`"
            )
            await refusal(scope, receive, send_with_headers)
            return
        if NUL in scope["path"]:
            await answer(404, "a path cannot contain NUL")(scope, receive, send_with_headers)
            return
        if WRITTEN_NUL in scope.get("query_string", b""):
            await answer(422, REFUSED)(scope, receive, send_with_headers)
            return
        await self._app(scope, receive, send_with_headers)

    def _known(self, host: str) -> bool:
        name = host_name(host)
        if name in self._names:
            return True
        # An IP address is always accepted: DNS rebinding needs a name.
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def host_name(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0].lower() if ":" in host else host.lower()


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
