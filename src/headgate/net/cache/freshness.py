"""How long an answer may be given again without asking: RFC 9111, section 4.2."""

import functools
import re
from calendar import timegm
from collections.abc import Mapping
from email.utils import parsedate_tz
from typing import NamedTuple

from headgate.core.provider import CachePolicy

MICROSECONDS = 1_000_000
FOREVER_S = 2**31
"""RFC 9111 lets a cache take any larger number of seconds for this one."""

Fields = Mapping[str, str]
"""Headers by name in lower case; what came twice is joined by a comma."""
Directives = Mapping[str, str | None]
"""Of Cache-Control: names in lower case; a name given twice counts as it stood first."""

_DIRECTIVE = re.compile(r'([^\s,;="]+)(?:\s*=\s*("(?:[^"\\]|\\.)*"|[^\s,;"]*))?')


def directives_of(cache_control: str | None) -> Directives:
    """Cache-Control, taken apart."""
    told: dict[str, str | None] = {}
    for name, value in _DIRECTIVE.findall(cache_control or ""):
        told.setdefault(name.lower(), value.strip('"') if value else None)
    return told


def seconds_of(value: str | None) -> int:
    """A number of seconds; nothing readable counts as none at all, which is the careful way."""
    return min(number_of(value), FOREVER_S)


def number_of(value: str | None) -> int:
    """A plain number, 0 if it is none."""
    text = (value or "").strip()
    return int(text[:20]) if text.isascii() and text.isdigit() else 0


@functools.lru_cache(maxsize=256)
def date_of(value: str | None) -> int | None:
    """An HTTP date in UTC microseconds; None if it is none.

    Remembered, since most answers of a second have the same one, and it takes long to read.
    """
    if value is None:
        return None
    try:
        parts = parsedate_tz(value)
        return None if parts is None else timegm(parts[:6]) * MICROSECONDS
    except (ValueError, OverflowError, IndexError, TypeError):
        return None


def vary_of(fields: Fields) -> str | None:
    """The request fields that the answer depends on, in one order; None if on more than those."""
    named = fields.get("vary")
    if named is None:
        return ""
    names = sorted({name.strip().lower() for name in named.split(",") if name.strip()})
    return None if "*" in names else ",".join(names)


def has_validator(fields: Fields) -> bool:
    """Whether the server can be asked if this still holds."""
    return "etag" in fields or "last-modified" in fields


HEURISTIC_SHARE = 0.1
"""What has not changed for ten days will hardly change within one."""
HEURISTIC_LIMIT_US = 7 * 24 * 3600 * MICROSECONDS


class Freshness(NamedTuple):
    """When an answer was new, and until when it is as good as new."""

    born_at: int
    fresh_until: int


def freshness_of(fields: Fields, received_at: int, policy: CachePolicy) -> Freshness:
    """Judge an answer by its head.

    The time that the request took does not count as age: most of it was spent before our own
    gates, when there was no answer yet.
    """
    date = date_of(fields.get("date"))
    apparent = max(0, received_at - date) if date is not None else 0
    told = seconds_of(fields.get("age")) * MICROSECONDS
    born_at = received_at - max(apparent, told)
    return Freshness(born_at, born_at + _lifetime(fields, received_at, policy))


def is_fresh_for(directives: Directives, freshness: Freshness, now: int) -> bool:
    """Whether an answer will do for a request that says this about caching."""
    if now >= freshness.fresh_until:
        return False
    if not directives:
        return True
    if "no-cache" in directives:
        return False
    if "max-age" in directives:
        return now - freshness.born_at <= seconds_of(directives["max-age"]) * MICROSECONDS
    return True


def _lifetime(fields: Fields, received_at: int, policy: CachePolicy) -> int:
    told = directives_of(fields.get("cache-control"))
    if "no-cache" in told and told["no-cache"] is None:
        return 0
    if "max-age" in told:
        return seconds_of(told["max-age"]) * MICROSECONDS
    date = date_of(fields.get("date"))
    made_at = received_at if date is None else date
    expires = fields.get("expires")
    if expires is not None:
        # What is no date, such as the common 0, means: at once.
        return max(0, (date_of(expires) or 0) - made_at)
    if policy.default_ttl_s:
        return round(policy.default_ttl_s * MICROSECONDS)
    modified = date_of(fields.get("last-modified"))
    if modified is None:
        return 0
    return min(HEURISTIC_LIMIT_US, max(0, round((made_at - modified) * HEURISTIC_SHARE)))
