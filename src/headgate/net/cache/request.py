"""Requests as the cache sees them: the key of an entry, and who may share it."""

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
_CONDITIONAL = frozenset({"if-match", "if-modified-since", "if-none-match", "if-range", "range"})
"""A request with these fields has its own copy, or wants a part: the cache does not reply."""


class _Role(Enum):
    PLAIN = 0
    SECRET = 1
    DIRECTIVE = 2
    CONDITIONAL = 3


class CallerBody(msgspec.Struct, frozen=True):
    """The caller keeps the body; the cache stores the head and a note of the body's location."""

    place: str
    """Where the caller keeps bodies; entries of different places are separate."""
    refetch: bool = False
    """The caller's copy is lost: fetch without a condition, even if an entry is stored."""


class CacheRequest(msgspec.Struct, frozen=True, gc=False):
    request: WireRequest
    key: str
    """Digest of partition, guard, method, URL, secrets and the caller's place."""
    url: str
    """The URL alone, by which a change at the server reaches every partition."""
    directives: Directives
    caller_body: CallerBody | None = None


def cache_request(
    request: WireRequest, partition: str, caller_body: CallerBody | None = None
) -> CacheRequest | None:
    """Return None if the cache cannot serve this request."""
    if request.method not in READING or request.body is not None:
        return None
    secrets: list[str] = []
    request_options: list[str] = []
    for name, value in request.headers:
        role = _role_of(name)
        if role is _Role.PLAIN:
            continue
        if role is _Role.CONDITIONAL:
            return None
        if role is _Role.SECRET:
            secrets.append(f"{name}:{value}")
        else:
            request_options.append(value)
    url = plain_url(request.url)
    directives = directives_of(",".join(request_options)) if request_options else {}
    # No header has a space in its name, so this is never mistaken for a secret.
    apart = secrets if caller_body is None else [*secrets, f"kept in:{caller_body.place}"]
    return CacheRequest(request, _key(request, url, partition, apart), url, directives, caller_body)


def plain_url(url: str) -> str:
    """Drop the fragment, which no server sees."""
    return url.partition("#")[0] if "#" in url else url


def digest(text: str) -> str:
    """A short name for any text. The cache file holds neither URLs nor secrets."""
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def variant_of(vary: str, headers: Headers) -> str:
    """The variant that these request headers select; `vary` names the fields that decide."""
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
    if name in _CONDITIONAL:
        return _Role.CONDITIONAL
    # Rather too many than too few: a name too many costs a hit, one too few shows a reply to the
    # wrong user.
    return _Role.SECRET if _SECRET.search(name) else _Role.PLAIN


ABOUT_A_PART = frozenset({206, 416})
"""Statuses of replies to range requests."""

_NOT_TO_BE_KEPT: Headers = (("cache-control", "no-store"),)
_PART = frozenset({"range", "if-range"})
_TO_THE_END = re.compile(r"bytes \d+-(\d+)/(\d+)")


def for_the_whole(request: WireRequest) -> WireRequest:
    if not {name for name, _ in request.headers} >= _PART:
        return request
    others = tuple(header for header in request.headers if header[0] not in _PART)
    return msgspec.structs.replace(request, headers=others)


def head_of_the_whole(status: int, headers: Headers) -> tuple[int, Headers]:
    """The head of the whole body, if this part is the rest of it."""
    found = _TO_THE_END.fullmatch(folded(headers).get("content-range", ""))
    if status != 206 or found is None or int(found[1]) + 1 != int(found[2]):
        return status, _NOT_TO_BE_KEPT
    others = [each for each in headers if each[0] not in {"content-range", "content-length"}]
    return 200, (*others, ("content-length", found[2]))
