"""The options of one request, read from the handler's keyword arguments."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from headgate.core.errors import UsageError
from headgate.net.cache import CallerBody
from headgate.net.redirects import RedirectHop
from headgate.ports.gate import Cost
from headgate.ports.http import Options, Params

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


def read(method: str, url: str, options: Options) -> tuple[RedirectHop, RequestOptions]:
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
