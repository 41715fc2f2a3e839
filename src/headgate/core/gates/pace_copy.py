"""The copy of a shared pace in one process, and its events that the shared state lacks.

The copy gets each request and reply of this process at once. The same events are played on the
shared state at the next exchange, and then the copy starts again from that state.
"""

from collections.abc import Mapping
from typing import NamedTuple

from headgate.core.gates.state import Override
from headgate.core.pacing.pace import Pace
from headgate.core.pacing.state import Cause, PaceReading, PaceState
from headgate.core.rate import Ceilings


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


class PaceCopy:
    SAFE_ANSWERS = 8
    """Answers after which a gate that reopened counts as open."""

    def __init__(self, limits: Ceilings, kind: type[Pace]) -> None:
        self._limits = limits
        self._ceiling = limits.rate
        self._kind = kind
        self.pace = kind(limits)
        self._events: list[Sent | Replied] = []
        self._proposed = 0
        """Number of events in the present proposal."""
        self._known_stop = 0.0
        """Notice time of the last stop that we know of."""
        self._known_stop_at = 0.0
        """When we got to know of it."""

    @property
    def has_events(self) -> bool:
        return bool(self._events)

    @property
    def is_shaky(self) -> bool:
        return self.is_unsafe(self.pace.state)

    def is_unsafe(self, state: PaceState) -> bool:
        """True if the gate is stopped or has just reopened."""
        return bool(state.stop.open or (state.opened and state.answered < self.SAFE_ANSWERS))

    def whole_rate(self, now: float, override: Override | None, pace: Pace | None = None) -> float:
        """The rate of all processes together, also while the gate is closed.

        It is that of the copy, unless another pace is given.
        """
        if override is not None and override.rate is not None and override.holds(now):
            return override.rate
        level, ceiling = (pace or self.pace).state.rate, self._ceiling
        if ceiling is None:
            return level.speed(now)
        return ceiling if level.known is None else min(level.speed(now), ceiling)

    def on_send(self, now: float, in_flight: int) -> None:
        state = self.pace.state
        self._events.append(Sent(now, in_flight, state.bound, _open_stop(state)))
        self.pace.on_send(now, in_flight)

    def on_reply(
        self,
        now: float,
        sent_at: float,
        in_flight: int,
        status: int,
        headers: Mapping[str, str],
        latency: float,
    ) -> PaceReading:
        state = self.pace.state
        was_open = state.stop.open
        knew = _open_stop(state) if sent_at >= self._known_stop_at else 0.0
        event = Replied(now, sent_at, in_flight, status, headers, latency, knew)
        self._events.append(event)
        reading = play(self.pace, event)
        if was_open != self.pace.state.stop.open:
            self._known_stop_at = now
        return reading

    # ---- exchanges

    def first_state(self) -> PaceState:
        return self._kind(self._limits).state

    def propose(self, state: PaceState) -> Pace:
        """The pace of a shared state with the events of this process."""
        self._proposed = len(self._events)
        return self._played(state)

    def accept(self) -> None:
        """The shared state has the events of the proposal."""
        del self._events[: self._proposed]
        self._proposed = 0

    def reject(self) -> None:
        self._proposed = 0

    def take_over(self, state: PaceState, now: float) -> bool:
        """Start again from the shared state; True if it has a stop that we did not know of."""
        self.pace = self._played(state)
        is_news = state.stop.noticed != self._known_stop
        if is_news:
            self._known_stop, self._known_stop_at = state.stop.noticed, now
        return is_news

    def _played(self, state: PaceState) -> Pace:
        pace = self._kind.from_state(state, self._limits)
        for event in self._events:
            play(pace, event)
        return pace


def _open_stop(state: PaceState) -> float:
    """The notice time of the present stop; 0: none."""
    return state.stop.noticed if state.stop.open else 0.0
