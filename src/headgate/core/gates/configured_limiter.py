"""A limiter that only keeps configured limits. It learns nothing."""

import math
from collections.abc import Mapping

from headgate.core.pacing.pace import UNLIMITED, Pace
from headgate.core.pacing.state import Cause, PaceReading
from headgate.core.rate import Ceilings

ANY = 1e9
"""Requests a second; more than any process sends."""
EVER = 1e12


class ConfiguredLimiter(Pace):
    """Keeps the ceilings of a gate and learns nothing from answers, such as a cap on each host."""

    def __init__(self, limits: Ceilings = UNLIMITED, *, start: float = ANY) -> None:
        super().__init__(limits, start=start)
        self.state.rate.set(start, EVER, 1.0, 1.0)

    def _held(self, now: float, in_flight: int) -> tuple[float, Cause]:
        limits = self.limits
        if limits.concurrency is not None and in_flight >= limits.concurrency:
            return math.inf, Cause.CONCURRENCY
        opens_at = limits.opens_at(self.state.ceiling_due)
        return (opens_at, Cause.CEILING) if opens_at > now else (now, Cause.OPEN)

    def on_send(self, now: float, in_flight: int) -> None:
        state = self.state
        self._in_flight = in_flight
        state.bound, state.sent_at = Cause.OPEN, now
        state.ceiling_due = self.limits.spend(state.ceiling_due, now)

    def on_reply(
        self,
        now: float,  # noqa: ARG002 (as every pace)
        sent_at: float,  # noqa: ARG002
        in_flight: int,  # noqa: ARG002
        status: int,  # noqa: ARG002
        headers: Mapping[str, str],  # noqa: ARG002
        latency: float,  # noqa: ARG002
    ) -> PaceReading:
        return PaceReading(refused=False)
