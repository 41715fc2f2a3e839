"""A limit that is only configured: nothing is learned here."""

import math
from collections.abc import Mapping

from headgate.core.ceiling import Ceilings
from headgate.core.pace_state import Cause, Reading


class Fixed:
    """Keeps the ceilings of a gate that answers are not about, such as a cap on each host."""

    closed_until = 0.0

    def __init__(self, limits: Ceilings) -> None:
        self._limits = limits
        self._due: list[float] = []
        self._cause = Cause.OPEN

    def gate(self, now: float, in_flight: int) -> float:
        """The earliest moment; now: at once; infinite: after some reply."""
        limits = self._limits
        if limits.concurrency is not None and in_flight >= limits.concurrency:
            self._cause = Cause.CONCURRENCY
            return math.inf
        opens_at = limits.opens_at(self._due)
        if opens_at > now:
            self._cause = Cause.CEILING
        return max(now, opens_at)

    def on_send(self, now: float, in_flight: int) -> None:  # noqa: ARG002 (as every limiter)
        """A request goes out."""
        self._due = self._limits.spend(self._due, now)
        self._cause = Cause.OPEN

    def on_reply(
        self,
        now: float,  # noqa: ARG002
        sent_at: float,  # noqa: ARG002
        in_flight: int,  # noqa: ARG002
        status: int,  # noqa: ARG002
        headers: Mapping[str, str],  # noqa: ARG002
        latency: float,  # noqa: ARG002
    ) -> Reading:
        """Nothing follows from it."""
        return Reading(refused=False)

    def why(self, now: float) -> Cause:  # noqa: ARG002 (as every limiter)
        """What held back the request that was last asked for."""
        return self._cause

    def rate(self, now: float) -> float:  # noqa: ARG002 (as every limiter)
        """Requests a second."""
        return self._limits.rate or math.inf
