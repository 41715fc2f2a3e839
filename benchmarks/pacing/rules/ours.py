"""Our own pacer, driven like the others."""

from __future__ import annotations

from benchmarks.pacing.rules.rule import Reply, Rule
from headgate.core.pacing.pace import Pace
from headgate.engine.gates.gate import Limiter

EPOCH_S = 1_800_000_000.0
"""It lives on UTC seconds, as it does behind a real gate; a clock from zero would flatter it."""


class Ours(Rule):
    """`headgate.core.pacing.pace.Pace`, or another limiter that keeps to its contract."""

    def __init__(self, limiter: Limiter | None = None, epoch_s: float = EPOCH_S) -> None:
        self._limiter = limiter or Pace()
        self._epoch_s = epoch_s
        self._retry_in_s = 0.0

    def gate(self, now: float, in_flight: int) -> float:
        utc = self._epoch_s + now
        opens_at = self._limiter.gate(utc, in_flight)
        return now if opens_at <= utc else opens_at - self._epoch_s

    def on_send(self, now: float, in_flight: int) -> None:
        self._limiter.on_send(self._epoch_s + now, in_flight)

    def on_reply(self, reply: Reply) -> None:
        reading = self._limiter.on_reply(
            self._epoch_s + reply.now,
            self._epoch_s + reply.sent_at,
            reply.in_flight,
            reply.status,
            reply.headers,
            reply.latency,
        )
        self._retry_in_s = reading.retry_in_s

    def retry_delay(self, attempts: int, reply: Reply) -> float:
        if reply.refused:
            return self._retry_in_s
        return self.surroundings.rng.uniform(0, min(30.0, 0.5 * 2**attempts))

    def rate(self, now: float) -> float:
        return self._limiter.rate(self._epoch_s + now)

    def closed(self, now: float) -> bool:
        return self._limiter.closed_until > self._epoch_s + now
