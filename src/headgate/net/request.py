"""A request as the handler makes it: its options, and its next hop by RFC 9110 after a redirect."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode, urljoin

import msgspec

from headgate.core.errors import UsageError
from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.url import parse_origin, short_url, split_origin
from headgate.net.cache import CallerBody
from headgate.ports.gate import Cost
from headgate.ports.http import Options, Params
from headgate.ports.wire import Headers

REDIRECT_STATUSES: Final = frozenset({301, 302, 303, 307, 308})
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
        reason = f"stopped after {limit} redirects: {short_url(url)} redirects again"
        super().__init__(Fault(FaultClass.PERMANENT, reason))


class RedirectHop(msgspec.Struct, frozen=True):
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


_encode = msgspec.json.Encoder().encode


class RequestOptions(msgspec.Struct, frozen=True):
    timeout_s: float | None = None
    follow: bool = True
    cost: Cost = {}
    light: bool = False
    max_bytes: int | None = None
    redirects: int | None = None
    """Most redirects to follow; None: the number in the settings."""
    caller_body: CallerBody | None = None
    """Set if the caller keeps the body."""
    through: str = ""
    """The provider that named the URL, if its cap on transfers holds too."""


ORDINARY = RequestOptions()
FOR_RULES = RequestOptions(light=True, redirects=5)
"""For a robots.txt; RFC 9309 asks clients to follow five redirects."""


def read_request(method: str, url: str, options: Options) -> tuple[RedirectHop, RequestOptions]:
    if not options:
        return RedirectHop(method, url), ORDINARY
    body, kind = _body(options)
    headers = {name.lower(): value for name, value in (options.get("headers") or {}).items()}
    if kind is not None:
        headers.setdefault("content-type", kind)
    if options.get("fresh"):
        headers["cache-control"] = "no-cache"
    params = options.get("params")
    request_options = RequestOptions(
        timeout_s=options.get("timeout"),
        follow=options.get("follow_redirects", True),
        cost=options.get("cost") or {},
        light=options.get("light", False),
        max_bytes=options.get("max_bytes"),
        caller_body=_caller_body(options),
        through=options.get("through", ""),
    )
    url = with_params(url, params) if params else url
    return RedirectHop(method, url, tuple(headers.items()), body), request_options


def with_params(url: str, params: Params) -> str:
    """Append the parameters to the URL; a value of None leaves its parameter out."""
    given = [(name, _text(value)) for name, value in params.items() if value is not None]
    if not given:
        return url
    place, _, _ = url.partition("#")
    mark = "" if place.endswith(("?", "&")) else "&" if "?" in place else "?"
    return f"{place}{mark}{urlencode(given, quote_via=quote, safe='')}"


def _caller_body(options: Options) -> CallerBody | None:
    place = options.get("kept_in", "")
    return CallerBody(place, options.get("refetch", False)) if place else None


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _body(options: Options) -> tuple[bytes | None, str | None]:
    """Return the body and its default content type."""
    given = [name for name in ("json", "data", "content") if _named(options, name) is not None]
    if len(given) > 1:
        raise UsageError(f"a request has one body: give {' or '.join(given)}, not both")
    if "json" in given:
        return _encode(options["json"]), "application/json"
    if "data" in given:
        form = urlencode([(name, _text(value)) for name, value in (options["data"] or {}).items()])
        return form.encode(), "application/x-www-form-urlencoded"
    content = options.get("content")
    return (content.encode() if isinstance(content, str) else content), None


def _named(options: Mapping[str, Any], name: str) -> object:
    return options.get(name)
