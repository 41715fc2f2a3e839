"""A network or cache operation inside an attempt."""

from enum import StrEnum

import msgspec

from headgate.core.redact_values import request_without_secrets


class CallKind(StrEnum):
    FETCHED = "fetched"
    CACHED = "cached"
    """From the cache, without a request."""
    REVALIDATED = "revalidated"
    """The server confirmed the cached reply (304)."""
    SHARED = "shared"
    """Another caller was fetching the same URL; this one waited for its reply."""
    REFUSED = "refused"
    FAILED = "failed"
    """No answer: network, timeout, guard or an open breaker."""
    BARRED = "barred"
    """Not sent: the host's robots.txt does not allow it."""


class Call(msgspec.Struct, frozen=True, array_like=True):
    """The record of a call; array-like, because thousands are stored."""

    at_us: int
    """When it was sent, in UTC microseconds."""
    verb: str
    provider: str
    host: str
    status: int
    """The HTTP status; 0 if no answer came."""
    kind: CallKind
    bytes: int
    ran_ms: float
    """Milliseconds from sending the request to the end of the body."""
    waited_ms: float
    """Milliseconds that the request waited before it was sent."""
    cause: str = ""
    """What it waited for, or why it failed."""
    url: str = ""
    """The URL without secrets, at most `LONGEST_URL` characters."""


LONGEST_URL = 500


def url_for_record(url: str) -> str:
    has_room_for_secrets = "?" in url or "@" in url or "#" in url
    return (request_without_secrets(url) if has_room_for_secrets else url)[:LONGEST_URL]


_decode = msgspec.json.Decoder(list[Call]).decode


def decode_calls(text: str | None) -> list[Call]:
    return _decode(text) if text else []
