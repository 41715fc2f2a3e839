"""The time for which a reply may be reused without asking: RFC 9111, section 4.2."""

import functools
import re
from calendar import timegm
from collections.abc import Mapping
from email.utils import parsedate_tz
from typing import NamedTuple

from headgate.core.provider import CachePolicy

MICROSECONDS = 1_000_000
FOREVER_S = 2**31
"""Seconds; RFC 9111 lets a cache use this for any larger number."""

Fields = Mapping[str, str]
"""Headers by lower-case name; repeated fields are joined by a comma."""
Directives = Mapping[str, str | None]
"""Directives of Cache-Control by lower-case name; the first of a repeated name counts."""

_DIRECTIVE = re.compile(r'([^\s,;="]+)(?:\s*=\s*("(?:[^"\\]|\\.)*"|[^\s,;"]*))?')


def directives_of(cache_control: str | None) -> Directives:
    found: dict[str, str | None] = {}
    for name, value in _DIRECTIVE.findall(cache_control or ""):
        found.setdefault(name.lower(), value.strip('"') if value else None)
    return found


def seconds_of(value: str | None) -> int:
    """Parse a number of seconds; an unreadable one counts as 0, which is the careful choice."""
    return min(number_of(value), FOREVER_S)


def number_of(value: str | None) -> int:
    """Parse a plain number; 0 if the value is not a number."""
    text = (value or "").strip()
    return int(text[:20]) if text.isascii() and text.isdigit() else 0


@functools.lru_cache(maxsize=256)
def date_of(value: str | None) -> int | None:
    """Parse an HTTP date into UTC microseconds; None if the value is not a date.

    The results are cached: most replies of one second have the same date, and parsing is slow.
    """
    if value is None:
        return None
    try:
        parts = parsedate_tz(value)
        return None if parts is None else timegm(parts[:6]) * MICROSECONDS
    except (ValueError, OverflowError, IndexError, TypeError):
        return None


def vary_of(fields: Fields) -> str | None:
    """Return the request fields that select the variant, sorted; None for `Vary: *`."""
    named = fields.get("vary")
    if named is None:
        return ""
    names = sorted({name.strip().lower() for name in named.split(",") if name.strip()})
    return None if "*" in names else ",".join(names)


def has_validator(fields: Fields) -> bool:
    return "etag" in fields or "last-modified" in fields


HEURISTIC_SHARE = 0.1
"""Share of the time since the last change for which a reply counts as fresh."""
HEURISTIC_LIMIT_US = 7 * 24 * 3600 * MICROSECONDS


class Freshness(NamedTuple):
    """Times in UTC microseconds."""

    born_at: int
    fresh_until: int


def freshness_of(fields: Fields, received_at: int, policy: CachePolicy) -> Freshness:
    """Judge a reply by its head.

    The duration of the request does not count as age: most of it was spent before our own gates.
    """
    date = date_of(fields.get("date"))
    apparent = max(0, received_at - date) if date is not None else 0
    age = seconds_of(fields.get("age")) * MICROSECONDS
    born_at = received_at - max(apparent, age)
    return Freshness(born_at, born_at + _lifetime(fields, received_at, policy))


def is_fresh_for(directives: Directives, freshness: Freshness, now: int) -> bool:
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
    directives = directives_of(fields.get("cache-control"))
    if "no-cache" in directives and directives["no-cache"] is None:
        return 0
    if "max-age" in directives:
        return seconds_of(directives["max-age"]) * MICROSECONDS
    date = date_of(fields.get("date"))
    made_at = received_at if date is None else date
    expires = fields.get("expires")
    if expires is not None:
        # A value that is not a date, such as the common 0, means: already expired.
        return max(0, (date_of(expires) or 0) - made_at)
    if policy.default_ttl_s:
        return round(policy.default_ttl_s * MICROSECONDS)
    modified = date_of(fields.get("last-modified"))
    if modified is None:
        return 0
    return min(HEURISTIC_LIMIT_US, max(0, round((made_at - modified) * HEURISTIC_SHARE)))
