"""Headers as the peers read them; our own pacer reads them itself."""

from __future__ import annotations

import re
from typing import NamedTuple

from benchmarks.pacing.manners import Headers

POLICY = re.compile(r";q=([\d.]+);w=([\d.]+)")
STATE = re.compile(r";r=(\d+);t=(\d+)")


class Told(NamedTuple):
    """What the RateLimit fields say."""

    quota: float
    window_s: float
    remaining: int
    reset_s: float


def retry_after(headers: Headers) -> float | None:
    """Seconds to wait, if the provider says so."""
    value = headers.get("retry-after")
    return None if value is None else float(value)


def told(headers: Headers) -> Told | None:
    """The limit, if the provider tells it."""
    policy = POLICY.search(headers.get("ratelimit-policy", ""))
    state = STATE.search(headers.get("ratelimit", ""))
    if policy is None or state is None:
        return None
    return Told(float(policy[1]), float(policy[2]), int(state[1]), float(state[2]))
