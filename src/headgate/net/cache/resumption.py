"""The rest of a body whose beginning the caller has already: RFC 9111, section 3.4."""

import re

import msgspec

from headgate.net.fields import folded
from headgate.ports.wire import Headers, WireRequest

ABOUT_A_PART = frozenset({206, 416})
"""Statuses that say nothing of the whole."""

_NOT_TO_BE_KEPT: Headers = (("cache-control", "no-store"),)
_PART = frozenset({"range", "if-range"})
_TO_THE_END = re.compile(r"bytes \d+-(\d+)/(\d+)")


def for_the_whole(request: WireRequest) -> WireRequest:
    """The request for all of which this one wants the rest, if that is of the same version."""
    if not {name for name, _ in request.headers} >= _PART:
        return request
    others = tuple(header for header in request.headers if header[0] not in _PART)
    return msgspec.structs.replace(request, headers=others)


def head_of_the_whole(status: int, headers: Headers) -> tuple[int, Headers]:
    """What the server would have said with all of the body, if this part is the rest of it."""
    found = _TO_THE_END.fullmatch(folded(headers).get("content-range", ""))
    if status != 206 or found is None or int(found[1]) + 1 != int(found[2]):
        return status, _NOT_TO_BE_KEPT
    others = [each for each in headers if each[0] not in {"content-range", "content-length"}]
    return 200, (*others, ("content-length", found[2]))
