"""One network or cache operation inside an attempt."""

from enum import StrEnum

import msgspec

from headgate.core.redact_values import request_without_secrets


class CallKind(StrEnum):
    """How an answer was come by."""

    FETCHED = "fetched"
    """From the server."""
    CACHED = "cached"
    """From the cache, without asking anybody."""
    REVALIDATED = "revalidated"
    """The server confirmed what the cache had (304)."""
    SHARED = "shared"
    """Another caller was fetching the same; this one waited for it."""
    REFUSED = "refused"
    """The server told us to slow down."""
    FAILED = "failed"
    """No answer: network, timeout, guard or an open breaker."""
    BARRED = "barred"
    """Not sent: the host's robots.txt does not allow it."""


class Call(msgspec.Struct, frozen=True, array_like=True):
    """What is kept of it; array-like, because thousands are stored."""

    at_us: int
    """When it was sent, in UTC microseconds."""
    verb: str
    provider: str
    host: str
    status: int
    """0 when there was no answer."""
    kind: CallKind
    bytes: int
    ran_ms: float
    """From sending to the end of the body."""
    waited_ms: float
    """Before it was let out."""
    cause: str = ""
    """What it waited for, or why it failed."""
    url: str = ""
    """What was asked for, without secrets and not beyond a sane length."""


LONGEST_URL = 500


def kept_url(url: str) -> str:
    """What is kept of the URL of a call."""
    has_room_for_secrets = "?" in url or "@" in url or "#" in url
    return (request_without_secrets(url) if has_room_for_secrets else url)[:LONGEST_URL]


_decode = msgspec.json.Decoder(list[Call]).decode


def calls_in(text: str | None) -> list[Call]:
    """The calls of an attempt, as they are stored with it."""
    return _decode(text) if text else []
