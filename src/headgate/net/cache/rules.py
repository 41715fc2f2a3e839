"""RFC 9111 as hishel implements it: what may be stored, and what a 304 means for an entry.

hishel judges replies only. This package judges freshness itself, because hishel reads the wall
clock for it. hishel never sees a variant other than the requested one.

Where redis is installed, hishel imports it for one of its storages: 20 MB and a third of a second
in each process that makes a request. So redis is hidden from that import.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, cast
from uuid import UUID

import msgspec

from headgate.net.cache.entry import CacheEntry
from headgate.net.fields import folded
from headgate.ports.wire import Headers, WireRequest


@contextmanager
def _absent(name: str) -> Iterator[None]:
    """Make imports fail as if a module were not installed, unless it is already imported."""
    modules = cast("dict[str, Any]", sys.modules)
    if name in modules:
        yield
        return
    modules[name] = None
    try:
        yield
    finally:
        del modules[name]


with _absent("redis"):
    from hishel import (
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
    from hishel import Entry as KnownEntry
    from hishel import Headers as KnownHeaders

PRIVATE = CacheOptions(shared=False, supported_methods=["GET", "HEAD"], allow_stale=False)


class Storable(msgspec.Struct, frozen=True):
    headers: Headers


class NotStorable(msgspec.Struct, frozen=True):
    """The reply may not be stored."""


class StillValid(msgspec.Struct, frozen=True):
    headers: Headers


class FetchAgain(msgspec.Struct, frozen=True):
    """The server confirmed an entry that we do not have."""


Verdict = Storable | NotStorable | StillValid | FetchAgain


def judge_reply(request: WireRequest, status: int, headers: Headers) -> Verdict:
    names = tuple([name for name, _ in headers])
    cache_control = ", ".join([value for name, value in headers if name == "cache-control"])
    dropped = _dropped_names(request.method, status, cache_control, names)
    if dropped is None:
        return NotStorable()
    return Storable(
        tuple(each for each in headers if each[0] not in dropped) if dropped else headers
    )


def judge_revalidation(
    request: WireRequest, status: int, headers: Headers, stale: CacheEntry
) -> Verdict:
    """The same as `judge_reply`, for a request that revalidates `stale`."""
    if status != 304:
        return judge_reply(request, status, headers)
    asked = Request(request.method, request.url)
    known = KnownEntry(UUID(int=0), asked, Response(stale.status, _known(stale.headers)))
    state: AnyState = NeedRevalidation(
        options=PRIVATE, request=asked, original_request=asked, revalidating_entries=[known]
    ).next(Response(status, _known(headers)))
    if isinstance(state, InvalidateEntries):
        state = state.next()
    if isinstance(state, NeedToBeUpdated):
        return StillValid(_plain(state.updating_entries[-1].response.headers))
    return FetchAgain()


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
    """The request with conditions: the server replies 304 if the entry still holds."""
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
