"""Middleware: the Host allow-list, and security headers on every response."""

import ipaddress

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headgate.app.api.problems import answer
from headgate.app.api.text_check import NUL, REFUSED
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
