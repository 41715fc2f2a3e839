"""Netflix's Vegas limiter: a cap on what is in flight, found from the latency."""

from __future__ import annotations

import math

from benchmarks.pacing.rules.rule import Reply, Rule


class Vegas(Rule):
    """Raise the cap while answers come as fast as ever, lower it when they seem to queue."""

    START = 20.0
    MOST = 1000.0
    PROBE_FACTOR = 30

    def __init__(self) -> None:
        self._cap = self.START
        self._fastest_s = 0.0
        self._replies = 0
        self._probe_jitter = 0.75

    def gate(self, now: float, in_flight: int) -> float:
        return now if in_flight < max(1, int(self._cap)) else math.inf

    def on_reply(self, reply: Reply) -> None:
        if reply.status == 500:
            return
        self._replies += 1
        if self._probe_jitter * self.PROBE_FACTOR * self._cap <= self._replies:
            self._probe_jitter = self.surroundings.rng.uniform(0.5, 1)
            self._replies, self._fastest_s = 0, reply.latency
        elif not self._fastest_s or reply.latency < self._fastest_s:
            self._fastest_s = reply.latency
        else:
            self._cap = max(1.0, min(self.MOST, self._cap + self._step(reply)))

    def _step(self, reply: Reply) -> int:
        unit = max(1, int(math.log10(max(1, int(self._cap)))))
        queued = math.ceil(self._cap * (1 - self._fastest_s / reply.latency))
        if reply.refused:
            return -unit
        if reply.in_flight * 2 < self._cap:
            return 0
        if queued <= unit:
            return 6 * unit
        if queued < 3 * unit:
            return unit
        return -unit if queued > 6 * unit else 0
