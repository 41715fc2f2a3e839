"""A provider in virtual time with assumed limits."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from headgate.core.rate import Limit
from headgate.engine.plan.workload import Assumed

NOTHING: Mapping[str, str] = {}
LONG_S = 10.0
"""Limits over fewer seconds are taken as buckets, limits over more as fixed windows."""
BUSY_S = 0.1
"""Seconds until a request is retried that was refused because of the concurrency cap."""


class Bucket:
    """A token bucket that holds one window of the limit."""

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        self._rate = limit.count / limit.seconds
        self._size = max(limit.count, 1.0)
        self._tokens = self._size
        self._filled_at = -math.inf

    def wait_s(self, now: float) -> float:
        if now > self._filled_at:
            gained = (now - self._filled_at) * self._rate
            self._tokens = min(self._size, self._tokens + gained)
            self._filled_at = now
        return max(0.0, (1.0 - self._tokens) / self._rate)

    def take(self) -> None:
        self._tokens -= 1.0

    @property
    def left(self) -> float:
        return self._tokens


class FixedWindow:
    """A fixed window; `turns_at` is the end of one of them."""

    def __init__(self, limit: Limit, turns_at: float) -> None:
        self.limit = limit
        self.left = self._most = max(1.0, float(int(limit.count)))
        self._turns_at = turns_at

    def wait_s(self, now: float) -> float:
        if now >= self._turns_at:
            passed = math.floor((now - self._turns_at) / self.limit.seconds) + 1
            self._turns_at += passed * self.limit.seconds
            self.left = self._most
        return 0.0 if self.left >= 1.0 else self._turns_at - now

    def take(self) -> None:
        self.left -= 1.0


class AssumedReply(NamedTuple):
    status: int
    headers: Mapping[str, str]


class AssumedProvider:
    """Answers requests; all its limits apply at once."""

    def __init__(self, assumed: Assumed, began: float, phase: float) -> None:
        self._assumed = assumed
        self._laws = [
            Bucket(limit)
            if limit.seconds < LONG_S
            else FixedWindow(limit, began + phase * limit.seconds)
            for limit in assumed.limits
        ]
        self._under_way = 0

    def judge(self, now: float) -> AssumedReply:
        """Accept a request or refuse it; a refused request uses nothing up."""
        wait_s = max((law.wait_s(now) for law in self._laws), default=0.0)
        if self._assumed.cap is not None and self._under_way >= self._assumed.cap:
            wait_s = max(wait_s, BUSY_S)
        if wait_s > 0:
            return AssumedReply(429, self._refusal(wait_s))
        for law in self._laws:
            law.take()
        self._under_way += 1
        return AssumedReply(200, self._quota_headers() if self._assumed.tells else NOTHING)

    def ended(self) -> None:
        self._under_way -= 1

    def _refusal(self, wait_s: float) -> Mapping[str, str]:
        if self._assumed.says_when or self._assumed.tells:
            return {"retry-after": str(math.ceil(wait_s))}
        return NOTHING

    def _quota_headers(self) -> Mapping[str, str]:
        policies = (
            f'"{number}";q={law.limit.count:.3f};w={law.limit.seconds:.3f}'
            for number, law in enumerate(self._laws)
        )
        states = (
            f'"{number}";r={int(law.left)};t={math.ceil(law.limit.seconds)}'
            for number, law in enumerate(self._laws)
        )
        return {"ratelimit-policy": ", ".join(policies), "ratelimit": ", ".join(states)}
