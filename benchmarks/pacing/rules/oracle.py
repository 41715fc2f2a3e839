"""The yardstick: told the true limit at every moment, it uses it up and is never refused."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.pacing.log import Log
from benchmarks.pacing.rules.rule import Reply, Rule

QUEUEING_SERVER = 12
"""In flight at a server that works on ten at once: ten there, two on the wire."""
ON_THE_WAY_S = 0.5
"""Seconds. A refusal that comes this soon after a change of the limit may be of a request that was
sent before it."""


class OracleRefusedError(Exception):
    """Every goodput is a share of the oracle's; if it is refused, no figure means anything."""


class Oracle(Rule):
    """Even spacing at a distance that is safe by construction, or a semaphore of the true size."""

    def __init__(self) -> None:
        self._next_at = 0.0

    def gate(self, now: float, in_flight: int) -> float:
        truth = self.surroundings.truth
        capacity = truth.capacity() if truth else QUEUEING_SERVER
        if capacity is not None:
            return now if in_flight < capacity else math.inf
        return max(now, self._next_at)

    def on_send(self, now: float, in_flight: int) -> None:
        if self.surroundings.truth:
            self._next_at = max(self._next_at, now) + self.surroundings.truth.safe_gap_s()

    def on_limit_change(self, now: float) -> None:
        truth = self.surroundings.truth
        assert truth is not None
        self._next_at = min(self._next_at, now + truth.safe_gap_s())
        if truth.settling_s():
            self._next_at = max(self._next_at, now + truth.settling_s())

    def retry_delay(self, attempts: int, reply: Reply) -> float:
        return 0.0 if reply.refused else self.surroundings.rng.uniform(0, 1)


def check_oracle(log: Log, bans: int, name: str, changed_at: Sequence[float] = ()) -> None:
    """Fail loudly rather than measure against a yardstick that is bent.

    What was on its way when the limit fell was sent by the limit before: it does not count.
    """
    late = [
        at for at in log.refused if not any(0 <= at - then <= ON_THE_WAY_S for then in changed_at)
    ]
    refused = len(late) / max(1, len(log.sent))
    if refused > 0.001 or bans:
        raise OracleRefusedError(f"{name}: the oracle was refused {refused:.2%}, banned {bans} x")
