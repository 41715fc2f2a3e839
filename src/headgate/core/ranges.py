"""Ranges of keys or times: cut into parts, and how many parts are worth it."""

import math
from itertools import pairwise

import msgspec

MOST_PARTS = 16
REACH = 8
"""Times by which an open range reaches farther than what is known, at each step."""


class KeyRange(msgspec.Struct, frozen=True):
    """The values between two bounds; None: no bound on that side."""

    low: float | None = None
    high: float | None = None


def split(low: float, high: float, parts: int) -> list[KeyRange]:
    """Adjacent ranges that together are the whole; bounds of whole numbers stay whole."""
    if isinstance(low, int) and isinstance(high, int):
        parts = max(min(parts, high - low), 1)
        cuts: list[float] = [low + (high - low) * each // parts for each in range(parts + 1)]
    else:
        cuts = [low + (high - low) * each / parts for each in range(parts)] + [high]
    pairs = pairwise(cuts)
    return [KeyRange(one, other) for one, other in pairs if one < other]


def parts_of(width: float, page_width: float, pages_each: int = 1) -> int:
    """How many parts a rest is worth, if one page was as wide as `page_width`."""
    if page_width <= 0:
        return 1
    pages = width / page_width
    return max(min(math.ceil(pages / pages_each), MOST_PARTS), 1)


def rest_above(last: float, high: float | None, width: float, reach: int) -> list[KeyRange]:
    """The ranges for what is above `last`, when the page that ended there was `width` wide."""
    if high is not None:
        return split(last, high, parts_of(high - last, width)) if last < high else []
    far = last + max(_whole(width * reach, last), 1)
    return [KeyRange(last, far), KeyRange(far, None)]


def rest_below(first: float, low: float | None, width: float, reach: int) -> list[KeyRange]:
    """As `rest_above`, for a listing that begins with the highest value."""
    if low is not None:
        return split(low, first, parts_of(first - low, width)) if low < first else []
    far = first - max(_whole(width * reach, first), 1)
    return [KeyRange(far, first), KeyRange(None, far)]


def _whole(value: float, like: float) -> float:
    return round(value) if isinstance(like, int) else value
