"""Header fields that speak about caching, read once and in one way."""

import functools
import re
from calendar import timegm
from collections.abc import Mapping
from email.utils import parsedate_tz

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
