"""RFC 9111 as hishel implements it: what may be stored, and what a 304 means for an entry.

hishel judges replies only. This package judges freshness itself, because hishel reads the wall
clock for it. hishel never sees a variant other than the requested one.
"""

from functools import lru_cache
from uuid import UUID

import msgspec

from headgate.net.cache.entry import CacheEntry
from headgate.net.cache.states import (
    AnyState,
    CacheMiss,
    CacheOptions,
    InvalidateEntries,
    NeedRevalidation,
    NeedToBeUpdated,
    Request,
    Response,
    StoreAndUse,
)
from headgate.net.cache.states import Entry as KnownEntry
from headgate.net.cache.states import Headers as KnownHeaders
from headgate.net.fields import folded
from headgate.ports.wire import Headers, WireRequest

PRIVATE = CacheOptions(shared=False, supported_methods=["GET", "HEAD"], allow_stale=False)


class Keep(msgspec.Struct, frozen=True):
    """The reply may be stored, with these headers."""

    headers: Headers


class Pass(msgspec.Struct, frozen=True):
    """The reply may not be stored."""


class Freshen(msgspec.Struct, frozen=True):
    """The entry still holds, with these headers."""

    headers: Headers


class AskAgain(msgspec.Struct, frozen=True):
    """The server confirmed an entry that we do not have."""


Verdict = Keep | Pass | Freshen | AskAgain


def judge(request: WireRequest, status: int, headers: Headers) -> Verdict:
    names = tuple([name for name, _ in headers])
    cache_control = ", ".join([value for name, value in headers if name == "cache-control"])
    dropped = _dropped_names(request.method, status, cache_control, names)
    if dropped is None:
        return Pass()
    return Keep(tuple(each for each in headers if each[0] not in dropped) if dropped else headers)


def judge_revalidation(
    request: WireRequest, status: int, headers: Headers, stale: CacheEntry
) -> Verdict:
    """The same as `judge`, for a request that revalidates `stale`."""
    if status != 304:
        return judge(request, status, headers)
    asked = Request(request.method, request.url)
    known = KnownEntry(UUID(int=0), asked, Response(stale.status, _known(stale.headers)))
    state: AnyState = NeedRevalidation(
        options=PRIVATE, request=asked, original_request=asked, revalidating_entries=[known]
    ).next(Response(status, _known(headers)))
    if isinstance(state, InvalidateEntries):
        state = state.next()
    if isinstance(state, NeedToBeUpdated):
        return Freshen(_plain(state.updating_entries[-1].response.headers))
    return AskAgain()


@lru_cache(maxsize=4_096)
def _dropped_names(
    method: str, status: int, cache_control: str, names: tuple[str, ...]
) -> frozenset[str] | None:
    """Return the headers that may not be stored; None if the reply may not be stored.

    Of all values only Cache-Control decides, so replies of one shape are judged once.
    """
    headers = KnownHeaders(dict.fromkeys(names, "") | {"cache-control": cache_control})
    state = CacheMiss(options=PRIVATE, request=Request(method, "")).next(Response(status, headers))
    if not isinstance(state, StoreAndUse):
        return None
    return frozenset(names) - frozenset(state.response.headers)


def conditional(request: WireRequest, stale: CacheEntry) -> WireRequest:
    """The same request, for which the server replies 304 if the entry still holds."""
    conditions = []
    fields = folded(stale.headers)
    if etag := fields.get("etag"):
        conditions.append(("if-none-match", etag))
    if modified := fields.get("last-modified"):
        conditions.append(("if-modified-since", modified))
    return msgspec.structs.replace(request, headers=(*request.headers, *conditions))


def _known(headers: Headers) -> KnownHeaders:
    lists: dict[str, list[str]] = {}
    for name, value in headers:
        lists.setdefault(name, []).append(value)
    return KnownHeaders({**lists})


def _plain(headers: KnownHeaders) -> Headers:
    return tuple((name, value) for name in headers for value in headers.get_list(name) or ())
