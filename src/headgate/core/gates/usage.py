"""Requests of one process at a gate: in flight, sent since the last exchange, and waiting."""

import math
from collections.abc import Mapping

from headgate.core.gates.state import Down, Member, down_fields


class MeanInFlight:
    """Mean number of requests in flight over about the last second, from the latency of answers."""

    SPAN_S = 1.0

    def __init__(self) -> None:
        self.mean = 0.0
        """Value at the last `turn`."""
        self._since = -math.inf
        self._busy_s = 0.0

    def replied(self, latency: float) -> None:
        self._busy_s += latency

    def at(self, now: float) -> float:
        """The mean, with the answers since the last `turn`."""
        seconds = now - self._since
        if not 0 < seconds < math.inf:
            return self.mean
        weight = 1 - math.exp(-seconds / self.SPAN_S)
        return self.mean + weight * (self._busy_s / seconds - self.mean)

    def turn(self, now: float) -> None:
        self.mean = self.at(now)
        self._since, self._busy_s = now, 0.0


class ProcessUsage:
    def __init__(self) -> None:
        self.in_flight = 0
        """As last reported by the caller."""
        self.waiting = False
        """A request waits."""
        self.sent = 0
        """Requests sent since the last exchange."""
        self.exchanged_at = -math.inf
        self.mean_in_flight = MeanInFlight()
        self.down: Down = {}
        """Hosts that do not answer us, with the time of the next trial."""

    @property
    def is_idle(self) -> bool:
        return not (self.waiting or self.in_flight or self.sent)

    def member(
        self, before: Member | None, others: Mapping[str, Member], permits: int, now: float
    ) -> Member:
        """This process as the others see it after an exchange.

        `before` is the same as of its last exchange; `permits` is the number of unused ones.
        """
        seconds = max(now - self.exchanged_at, 0.05)
        eager = self.waiting or math.isinf(self.exchanged_at)
        need = -1.0 if eager else 1.25 * self.sent / min(seconds, 60.0) + 1.0
        return Member(
            seen=now,
            need=need,
            in_flight=self.in_flight + permits,
            mean_in_flight=self.mean_in_flight.at(now),
            slots=before.slots if before else 0,
            joined=before.joined if before else now,
            had=before.had if before else max((each.had for each in others.values()), default=0),
            waiting=self.waiting,
            **down_fields(self.down),
        )

    def exchanged(self, now: float) -> None:
        self.sent = 0
        self.waiting = False
        self.mean_in_flight.turn(now)
        self.exchanged_at = now
