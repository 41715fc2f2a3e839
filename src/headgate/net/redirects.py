"""Redirects by RFC 9110: the next URL, its method, and the headers to drop."""

from typing import Final
from urllib.parse import urljoin

import msgspec

from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.url import parse_origin, shown, split_origin
from headgate.ports.wire import Headers

STATUSES: Final = frozenset({301, 302, 303, 307, 308})
_OF_A_BODY: Final = frozenset({"content-type", "content-length", "content-encoding", "digest"})
_FOR_ANY_HOST: Final = frozenset(
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
"""Headers that follow a redirect to another host; others may be meant for the first host."""


class TooManyRedirects(AttemptOver):
    code = "redirect-loop"

    def __init__(self, url: str, limit: int) -> None:
        reason = f"stopped after {limit} redirects: {shown(url)} redirects again"
        super().__init__(Fault(FaultClass.PERMANENT, reason))


class RedirectHop(msgspec.Struct, frozen=True):
    """A request as its maker wants it, without the client's own headers."""

    method: str
    url: str
    headers: Headers = ()
    body: bytes | None = None
    bare: bool = False
    """The redirects have left the first host: send no credential."""


def next_hop(request: RedirectHop, url: str, status: int, location: str) -> RedirectHop:
    """The request that a redirect asks for; `url` is the URL that redirected."""
    target = urljoin(url, location)
    method, body, headers = request.method, request.body, request.headers
    if (status == 303 and method != "HEAD") or (status in {301, 302} and method == "POST"):
        method, body = "GET", None
        headers = [header for header in headers if header[0] not in _OF_A_BODY]
    bare = request.bare or not _same_place(url, target)
    if bare:
        kept = _FOR_ANY_HOST if body is None else _FOR_ANY_HOST | _OF_A_BODY
        headers = [header for header in headers if header[0] in kept]
    return RedirectHop(method, target, headers, body, bare)


def _same_place(before: str, after: str) -> bool:
    """Whether scheme, host and port are the same."""
    return parse_origin(split_origin(before)[0]) == parse_origin(split_origin(after)[0])
