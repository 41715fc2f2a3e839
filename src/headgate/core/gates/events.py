"""Requests and replies of one process, replayed on the pace that all processes share."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from headgate.core.pacing.pace import Pace
from headgate.core.pacing.state import Cause, PaceReading


class Sent(NamedTuple):
    at: float
    in_flight: int
    bound: Cause
    knew: float
    """Notice time of the stop that the sender knew of; 0: none."""


class Replied(NamedTuple):
    at: float
    sent_at: float
    in_flight: int
    status: int
    headers: Mapping[str, str]
    latency: float
    knew: float
    """Notice time of the stop that the sender knew of when it sent the request; 0: none."""


def play(pace: Pace, event: Sent | Replied) -> PaceReading:
    """Apply an event to a pace, perhaps some time later and from another process.

    A request whose sender did not know of the present stop neither tests whether the stop is over
    nor reopens the gate: it counts as a request that was in flight when the stop began.
    """
    state = pace.state
    unaware = state.stop.open and event.knew != state.stop.noticed
    if isinstance(event, Replied):
        sent_at = min(event.sent_at, state.stop.noticed - 1e-6) if unaware else event.sent_at
        return pace.on_reply(
            event.at, sent_at, event.in_flight, event.status, event.headers, event.latency
        )
    if event.at >= state.opened and not unaware:
        last = state.sent_at
        state.bound = event.bound
        pace.on_send(event.at, event.in_flight)
        # The pace may know later requests of other processes already: no time counts twice.
        state.sent_at = max(last, event.at)
    return PaceReading(refused=False)


class MeanInFlight:
    """Mean number of requests in flight over about the last second, from the latency of answers."""

    SPAN_S = 1.0

    def __init__(self) -> None:
        self.mean = 0.0
        """Value at the last `turn`."""
        self._since = -math.inf
        self._busy_s = 0.0

    def landed(self, latency: float) -> None:
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
