"""What happened at a gate in one process, played to the pace that all of them share."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from headgate.core.pacing.pace import Pace
from headgate.core.pacing.state import Cause, PaceReading


class Sent(NamedTuple):
    """A request that went out."""

    at: float
    in_flight: int
    bound: Cause
    knew: float
    """The stop that its sender knew of, by when it was noticed; 0: of none."""


class Replied(NamedTuple):
    """What came back."""

    at: float
    sent_at: float
    in_flight: int
    status: int
    headers: Mapping[str, str]
    latency: float
    knew: float
    """The stop that its sender knew of when it was sent."""


def play(pace: Pace, event: Sent | Replied) -> PaceReading:
    """Let a pace see what happened, perhaps some time ago in another process.

    A request whose sender did not know of the present stop neither asked whether it is over nor
    reopens anything: it counts as one that was on its way when the stop began.
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
        state.sent_at = max(last, event.at)  # others' may be known already: no time counts twice
    return PaceReading(refused=False)


class MeanInFlight:
    """The mean of about the last second, from how long answers took."""

    SPAN_S = 1.0

    def __init__(self) -> None:
        self.mean = 0.0
        """As of the last turn."""
        self._since = -math.inf
        self._busy_s = 0.0

    def landed(self, latency: float) -> None:
        """An answer came, after so many seconds."""
        self._busy_s += latency

    def at(self, now: float) -> float:
        """The mean with what came since the last turn."""
        seconds = now - self._since
        if not 0 < seconds < math.inf:
            return self.mean
        weight = 1 - math.exp(-seconds / self.SPAN_S)
        return self.mean + weight * (self._busy_s / seconds - self.mean)

    def turn(self, now: float) -> None:
        """Begin to count anew."""
        self.mean = self.at(now)
        self._since, self._busy_s = now, 0.0
