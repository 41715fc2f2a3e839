"""Limits as users write them: `5/s`, `10/s, 100/min`, `1/3s`."""

import re

import msgspec

UNITS = {"s": 1.0, "min": 60.0, "h": 3_600.0, "day": 86_400.0}
_ALIASES = {
    "sec": "s",
    "second": "s",
    "seconds": "s",
    "m": "min",
    "minute": "min",
    "minutes": "min",
    "hour": "h",
    "hours": "h",
    "d": "day",
    "days": "day",
}
_LIMIT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*/\s*(\d+(?:\.\d+)?)?\s*([a-z]+)\s*")
MOST = 1e12


class Limit(msgspec.Struct, frozen=True):
    count: float
    seconds: float


def parse_limits(text: str) -> tuple[Limit, ...]:
    """Every limit in a text, all of which apply together; none in an empty text."""
    if not text.strip():
        return ()
    return tuple(_parse(part) for part in text.split(","))


def _parse(text: str) -> Limit:
    match = _LIMIT.fullmatch(text.lower())
    unit = match and UNITS.get(_ALIASES.get(match[3], match[3]))
    if match is None or unit is None:
        raise ValueError(
            f"{text.strip()!r} is not a limit: write it as 5/s, 100/min, 2000/day or 1/3s"
        )
    limit = Limit(float(match[1]), float(match[2] or 1) * unit)
    if not (0 < limit.count <= MOST and 0 < limit.seconds <= 366 * UNITS["day"]):
        raise ValueError(
            f"{text.strip()!r} is not a limit: both numbers are above 0, within a year"
        )
    return limit


MOST_AHEAD = 100
"""Requests by which processes that do not know of each other yet may exceed a limit together."""


class Ceilings(msgspec.Struct, frozen=True):
    """The limits that the user has set for a gate. A gate without any has no ceiling."""

    limits: tuple[Limit, ...] = ()
    """All of them apply together: 10/s and 100/min."""
    burst: int = 1
    """Most requests at the same moment after a rest; each above 1 goes beyond the limit once."""
    concurrency: int | None = None
    refusals: tuple[int, ...] = ()
    """Statuses that ask us to slow down, in addition to 429 and a 503 with Retry-After."""
    longest_wait_s: float = 3_600.0
    """Longest Retry-After that is obeyed, in seconds."""

    @property
    def rate(self) -> float | None:
        return min((limit.count / limit.seconds for limit in self.limits), default=None)

    def fitted(self, due: list[float], sent_at: float) -> list[float]:
        """The stored due times of a gate whose limits may have been others when they were stored.

        A time far after the last request belongs to a slower limit, and would hold back the next
        request for that long.
        """
        if not due:
            return []
        if len(due) != len(self.limits):
            due = [sent_at + limit.seconds / limit.count for limit in self.limits]
        return [
            min(at, sent_at + (self.burst + MOST_AHEAD) * limit.seconds / limit.count)
            for at, limit in zip(due, self.limits, strict=True)
        ]

    def opens_at(self, due: list[float]) -> float:
        """When all limits allow the next request; `due` has one time for each limit (GCRA)."""
        spare, opens_at = self.burst - 1, 0.0
        for at, limit in zip(due, self.limits, strict=False):
            opens_at = max(opens_at, at - spare * limit.seconds / limit.count)
        return opens_at

    def spend(self, due: list[float], now: float) -> list[float]:
        return [
            max(at, now) + limit.seconds / limit.count
            for at, limit in zip(due or [now] * len(self.limits), self.limits, strict=True)
        ]
