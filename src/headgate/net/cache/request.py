"""What is asked of the cache: by which name an answer is kept, and who may see it."""

import hashlib
import re
from enum import Enum
from functools import lru_cache

import msgspec

from headgate.net.cache.freshness import Directives, directives_of
from headgate.net.fields import folded
from headgate.ports.wire import Headers, WireRequest

READING = frozenset({"GET", "HEAD"})
SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
NO_VARIANT = ""

_SECRET = re.compile(r"auth|cookie|credential|key|password|secret|session|signature|token")
_OWN_BUSINESS = frozenset({"if-match", "if-modified-since", "if-none-match", "if-range", "range"})
"""Whoever sends these keeps copies of their own, or wants a part: no cache answers that."""


class _Role(Enum):
    PLAIN = 0
    SECRET = 1
    DIRECTIVE = 2
    OWN_BUSINESS = 3


class CallerBody(msgspec.Struct, frozen=True):
    """The caller keeps the body: the cache remembers the head, and a note of where it is."""

    place: str
    """Where the caller keeps bodies: what is in one place says nothing of another."""
    anew: bool = False
    """What was kept is gone: fetch it without a condition, whatever is remembered."""


class CacheRequest(msgspec.Struct, frozen=True, gc=False):
    """One request, as the cache sees it."""

    request: WireRequest
    key: str
    """Partition, guard, method, URL, secrets and custody: what differs is never mixed up."""
    url: str
    """The URL alone, by which a change at the server is felt in every partition."""
    directives: Directives
    """What the request says about caching."""
    caller_body: CallerBody | None = None


def cache_request(
    request: WireRequest, partition: str, caller_body: CallerBody | None = None
) -> CacheRequest | None:
    """What the cache may be asked; None if it has no part in this request."""
    if request.method not in READING or request.body is not None:
        return None
    secrets: list[str] = []
    request_options: list[str] = []
    for name, value in request.headers:
        role = _role_of(name)
        if role is _Role.PLAIN:
            continue
        if role is _Role.OWN_BUSINESS:
            return None
        if role is _Role.SECRET:
            secrets.append(f"{name}:{value}")
        else:
            request_options.append(value)
    url = plain_url(request.url)
    told = directives_of(",".join(request_options)) if request_options else {}
    # No header has a space in its name, so this is never taken for a secret.
    apart = secrets if caller_body is None else [*secrets, f"kept in:{caller_body.place}"]
    return CacheRequest(request, _key(request, url, partition, apart), url, told, caller_body)


def plain_url(url: str) -> str:
    """Without the part that no server sees."""
    return url.partition("#")[0] if "#" in url else url


def digest(text: str) -> str:
    """A short name for any text. Neither URLs nor secrets stand in the file of the cache."""
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def variant_of(vary: str, headers: Headers) -> str:
    """The variant that these request headers ask for, where `vary` names what decides."""
    if not vary:
        return NO_VARIANT
    chosen = [
        f"{name}:" + ",".join(value.strip() for field, value in headers if field == name)
        for name in vary.split(",")
    ]
    return digest("\n".join(chosen))


def _key(request: WireRequest, url: str, partition: str, apart: list[str]) -> str:
    # A guarded request must not learn what only an unguarded one could reach. With its length in
    # front, no part can be continued into the next.
    parts = (partition, "guarded" if request.guarded else "", request.method, url, *apart)
    return digest("".join([f"{len(part)} {part}" for part in parts]))


@lru_cache(maxsize=1_000)
def _role_of(name: str) -> _Role:
    if name == "cache-control":
        return _Role.DIRECTIVE
    if name in _OWN_BUSINESS:
        return _Role.OWN_BUSINESS
    # Rather too many than too few: a name too many costs a hit, one too few shows an answer
    # to somebody it was not meant for.
    return _Role.SECRET if _SECRET.search(name) else _Role.PLAIN


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
