"""Redirects by RFC 9110: where to next, by which method, and what must stay behind."""

from typing import Final
from urllib.parse import urljoin

import msgspec

from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.url import parse_origin, shown, split_origin
from headgate.ports.wire import Headers

STATUSES: Final = frozenset({301, 302, 303, 307, 308})
_OF_A_BODY: Final = frozenset({"content-type", "content-length", "content-encoding", "digest"})
_FOR_ANYBODY: Final = frozenset(
    {
        "accept",
        "accept-encoding",
        "accept-language",
        "cache-control",
        "if-range",
        "pragma",
        "range",
        "user-agent",
    }
)
"""Beyond these, a header that a handler set may be meant for one host alone."""


class TooManyRedirects(AttemptOver):
    """The redirects lead nowhere."""

    code = "redirect-loop"

    def __init__(self, url: str, limit: int) -> None:
        reason = f"{shown(url)} is the end of {limit} redirects and leads on to another"
        super().__init__(Fault(FaultClass.PERMANENT, reason))


class RedirectHop(msgspec.Struct, frozen=True):
    """A request before it is addressed: what its maker wants, without our own headers."""

    method: str
    url: str
    headers: Headers = ()
    body: bytes | None = None
    bare: bool = False
    """It has left the host that it was made for: no credential goes along."""


def next_hop(request: RedirectHop, url: str, status: int, location: str) -> RedirectHop:
    """The request that a redirect asks for; `url` is where the redirect came from."""
    target = urljoin(url, location)
    method, body, headers = request.method, request.body, request.headers
    if (status == 303 and method != "HEAD") or (status in {301, 302} and method == "POST"):
        method, body = "GET", None
        headers = [header for header in headers if header[0] not in _OF_A_BODY]
    bare = request.bare or not _same_place(url, target)
    if bare:
        kept = _FOR_ANYBODY if body is None else _FOR_ANYBODY | _OF_A_BODY
        headers = [header for header in headers if header[0] in kept]
    return RedirectHop(method, target, headers, body, bare)


def _same_place(before: str, after: str) -> bool:
    """Whether scheme, host and port are the same; from https to http is another place."""
    return parse_origin(split_origin(before)[0]) == parse_origin(split_origin(after)[0])
