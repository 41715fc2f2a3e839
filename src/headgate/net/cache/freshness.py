"""How long an answer may be given again without asking: RFC 9111, section 4.2."""

from typing import NamedTuple

from headgate.core.provider import CachePolicy
from headgate.net.cache.directives import (
    MICROSECONDS,
    Directives,
    Fields,
    date_of,
    directives_of,
    seconds_of,
)

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
