"""What a provider tells about its limit, in the words of real headers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.pacing.limits import Decision, Limit

Headers = Mapping[str, str]
NOTHING: Headers = {}


def whole_seconds(seconds: float) -> str:
    """As HTTP has it: whole, and at least one."""
    return str(max(1, math.ceil(seconds - 1e-9)))


def number(value: float) -> str:
    """A structured field's number: at most three digits behind the point."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


class Silent:
    """A bare refusal, and nothing else."""

    def accepted(self, limit: Limit, decision: Decision) -> Headers:
        """The headers of an answer."""
        return NOTHING

    def refused(self, limit: Limit, decision: Decision) -> Headers:
        """The headers of a refusal."""
        return NOTHING

    def banned(self, left_s: float) -> Headers:
        """The headers of a refusal while banned."""
        return NOTHING


class RetryAfter(Silent):
    """Refusals say when to come back."""

    def refused(self, limit: Limit, decision: Decision) -> Headers:
        return {"retry-after": whole_seconds(decision.wait_s)}

    def banned(self, left_s: float) -> Headers:
        return {"retry-after": str(math.ceil(left_s))}


@dataclass(frozen=True)
class Fields(RetryAfter):
    """RateLimit-Policy and RateLimit on every answer, and Retry-After on refusals.

    With an `exaggeration` other than 1 they lie: about the quota, and about what is left of it.
    """

    exaggeration: float = 1.0

    def accepted(self, limit: Limit, decision: Decision) -> Headers:
        policy = limit.policy()
        if policy is None:
            return NOTHING
        quota = policy.quota * self.exaggeration
        remaining = decision.remaining * self.exaggeration
        if self.exaggeration > 1:
            remaining = max(1.0, remaining)
        return {
            "ratelimit-policy": f'"default";q={number(quota)};w={number(policy.window_s)}',
            "ratelimit": f'"default";r={int(remaining)};t={whole_seconds(decision.reset_s)}',
        }

    def refused(self, limit: Limit, decision: Decision) -> Headers:
        return {**super().refused(limit, decision), **self.accepted(limit, decision)}


@dataclass(frozen=True)
class Legacy(Silent):
    """X-RateLimit-Limit and -Remaining, which tell no window; -Reset only if it is asked for."""

    with_reset: bool

    def accepted(self, limit: Limit, decision: Decision) -> Headers:
        policy = limit.policy()
        if policy is None:
            return NOTHING
        told = {
            "x-ratelimit-limit": number(policy.quota),
            "x-ratelimit-remaining": str(decision.remaining),
        }
        if self.with_reset:
            told["x-ratelimit-reset"] = whole_seconds(decision.reset_s)
        return told

    def refused(self, limit: Limit, decision: Decision) -> Headers:
        return self.accepted(limit, decision)


SILENT = Silent()
RETRY_AFTER = RetryAfter()
FIELDS = Fields()
