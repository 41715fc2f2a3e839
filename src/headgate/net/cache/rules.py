"""RFC 9111 as hishel knows it: what may be kept, and what a 304 means for what we have.

Its states are asked about answers only. How fresh something is we judge ourselves, because hishel
reads the wall clock for it; and it never sees another variant than the one that was asked for.
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


def judge(request: WireRequest, status: int, headers: Headers) -> Verdict:
    """What may be done with an answer."""
    names = tuple([name for name, _ in headers])
    told = ", ".join([value for name, value in headers if name == "cache-control"])
    dropped = _dropped_names(request.method, status, told, names)
    if dropped is None:
        return Pass()
    return Keep(tuple(each for each in headers if each[0] not in dropped) if dropped else headers)


def judge_revalidation(
    request: WireRequest, status: int, headers: Headers, stale: CacheEntry
) -> Verdict:
    """The same, where the server was asked whether `stale` still holds."""
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
    """The headers that may not be kept; None if nothing may.

    That hangs on no header's value but Cache-Control, so answers of one kind are judged once.
    """
    headers = KnownHeaders(dict.fromkeys(names, "") | {"cache-control": cache_control})
    state = CacheMiss(options=PRIVATE, request=Request(method, "")).next(Response(status, headers))
    if not isinstance(state, StoreAndUse):
        return None
    return frozenset(names) - frozenset(state.response.headers)


def conditional(request: WireRequest, stale: CacheEntry) -> WireRequest:
    """The same request, but to be answered with 304 if what we have is still right."""
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
