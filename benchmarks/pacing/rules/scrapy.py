"""Scrapy's AutoThrottle: the delay follows the latency; refusals play no part."""

from __future__ import annotations

import math

from benchmarks.pacing.rules.rule import Reply, Rule


class AutoThrottle(Rule):
    """The delay moves half-way to latency ÷ target; answers other than 200 never lower it."""

    MAX_DELAY_S = 60.0

    def __init__(self, target: float = 8.0, concurrency: int = 16) -> None:
        self._target = target
        self._concurrency = concurrency
        self._delay_s = 5.0
        self._next_at = 0.0

    def gate(self, now: float, in_flight: int) -> float:
        return math.inf if in_flight >= self._concurrency else max(now, self._next_at)

    def on_send(self, now: float, in_flight: int) -> None:
        self._next_at = now + self._delay_s * self.surroundings.rng.uniform(0.5, 1.5)

    def on_reply(self, reply: Reply) -> None:
        wanted_s = reply.latency / self._target
        delay_s = min(self.MAX_DELAY_S, max(wanted_s, (self._delay_s + wanted_s) / 2))
        if reply.status == 200 or delay_s > self._delay_s:
            self._delay_s = delay_s

    def retry_delay(self, attempts: int, reply: Reply) -> float:
        return 0.0
