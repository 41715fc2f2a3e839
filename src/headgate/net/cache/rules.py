"""RFC 9111 as hishel knows it: what may be kept, and what a 304 means for what we have.

Its states are asked about answers only. How fresh something is we judge ourselves, because hishel
reads the wall clock for it; and it never sees another variant than the one that was asked for.
"""

from uuid import UUID

import msgspec
from hishel import (
    AnyState,
    CacheMiss,
    CacheOptions,
    CouldNotBeStored,
    InvalidateEntries,
    NeedRevalidation,
    NeedToBeUpdated,
    Request,
    Response,
    StoreAndUse,
)
from hishel import Entry as KnownEntry
from hishel import Headers as KnownHeaders

from headgate.net.cache.entry import Entry
from headgate.net.cache.fields import field
from headgate.ports.wire import Headers, WireRequest

PRIVATE = CacheOptions(shared=False, supported_methods=["GET", "HEAD"], allow_stale=False)


class Keep(msgspec.Struct, frozen=True):
    """This answer may be kept, with these headers."""

    headers: Headers


class Pass(msgspec.Struct, frozen=True):
    """This answer is for whoever asked, and for nobody after."""


class Freshen(msgspec.Struct, frozen=True):
    """What we have is still right, with these headers."""

    headers: Headers


class AskAgain(msgspec.Struct, frozen=True):
    """The server confirmed something that we do not have."""


Verdict = Keep | Pass | Freshen | AskAgain


def judge(
    request: WireRequest, status: int, headers: Headers, stale: Entry | None = None
) -> Verdict:
    """What an answer means, where `stale` is what the server was asked about."""
    asked = Request(request.method, request.url)
    before: CacheMiss | NeedRevalidation = (
        CacheMiss(options=PRIVATE, request=asked)
        if stale is None
        else NeedRevalidation(
            options=PRIVATE,
            request=asked,
            original_request=asked,
            revalidating_entries=[KnownEntry(UUID(int=0), asked, _known(stale))],
        )
    )
    state: AnyState = before.next(Response(status, _known_headers(headers)))
    if isinstance(state, InvalidateEntries):
        state = state.next()
    match state:
        case StoreAndUse():
            return Keep(_plain_headers(state.response.headers))
        case NeedToBeUpdated():
            return Freshen(_plain_headers(state.updating_entries[-1].response.headers))
        case CacheMiss():
            return AskAgain()
        case CouldNotBeStored():
            return Pass()
        case _:
            raise AssertionError(f"an answer leads to no {type(state).__name__}")


def conditional(request: WireRequest, stale: Entry) -> WireRequest:
    """The same request, but to be answered with 304 if what we have is still right."""
    conditions = []
    if etag := field(stale.headers, "etag"):
        conditions.append(("if-none-match", etag))
    if modified := field(stale.headers, "last-modified"):
        conditions.append(("if-modified-since", modified))
    return msgspec.structs.replace(request, headers=(*request.headers, *conditions))


def _known(entry: Entry) -> Response:
    return Response(entry.status, _known_headers(entry.headers))


def _known_headers(headers: Headers) -> KnownHeaders:
    lists: dict[str, list[str]] = {}
    for name, value in headers:
        lists.setdefault(name, []).append(value)
    return KnownHeaders({**lists})


def _plain_headers(headers: KnownHeaders) -> Headers:
    return tuple((name, value) for name in headers for value in headers.get_list(name) or ())
