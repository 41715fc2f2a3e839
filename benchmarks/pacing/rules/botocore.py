"""botocore's adaptive mode: a token bucket whose rate follows a cubic curve after each throttle."""

from __future__ import annotations

import math

from benchmarks.pacing.rules.rule import Reply, Rule


class Botocore(Rule):
    """Off until the first refusal; from then on the best of the known rules."""

    KEPT, LOST = 0.7, 0.3
    NEW, OLD = 0.8, 0.2
    SCALE = 0.4
    FLOOR = 0.5
    MAX_BACKOFF_S = 20.0

    def __init__(self) -> None:
        self._enabled = False
        self._rate = 1.0
        self._burst = 1.0
        self._tokens = 0.0
        self._filled_at = 0.0
        self._rate_before_cut = 0.0
        self._cut_at = 0.0
        self._climb_s = 0.0
        self._measured = 0.0
        self._half_second = 0.0
        self._replies = 0

    def gate(self, now: float, in_flight: int) -> float:
        if not self._enabled:
            return now
        self._fill(now)
        return now if self._tokens >= 1 - 1e-9 else now + (1 - self._tokens) / self._rate

    def on_send(self, now: float, in_flight: int) -> None:
        if self._enabled:
            self._tokens -= 1

    def on_reply(self, reply: Reply) -> None:
        self._measure(reply.now)
        if reply.refused:
            rate = self._cut(reply.now)
        else:
            into_s = reply.now - self._cut_at - self._climb_s
            rate = self.SCALE * into_s**3 + self._rate_before_cut
        rate = min(rate, 2 * self._measured)
        self._fill(reply.now)
        self._rate, self._burst = max(rate, self.FLOOR), max(rate, 1.0)
        self._tokens = min(self._tokens, self._burst)

    def retry_delay(self, attempts: int, reply: Reply) -> float:
        most_s = min(self.MAX_BACKOFF_S, 2.0 ** (attempts - 1))
        return self.surroundings.rng.uniform(0, 1) * most_s

    def rate(self, now: float) -> float | None:
        return self._rate if self._enabled else None

    def _fill(self, now: float) -> None:
        self._tokens = min(self._burst, self._tokens + (now - self._filled_at) * self._rate)
        self._filled_at = now

    def _measure(self, now: float) -> None:
        half_second = math.floor(now * 2) / 2
        self._replies += 1
        if half_second > self._half_second:
            span_s = half_second - self._half_second
            self._measured = self.NEW * self._replies / span_s + self.OLD * self._measured
            self._replies, self._half_second = 0, half_second

    def _cut(self, now: float) -> float:
        used = min(self._measured, self._rate) if self._enabled else self._measured
        self._enabled = True
        self._rate_before_cut, self._cut_at = used, now
        self._climb_s = (used * self.LOST / self.SCALE) ** (1 / 3)
        return used * self.KEPT
