"""One process's part in a gate that several share.

Each process keeps a copy of the pace and lets it see its own requests and replies at once; about
once a second it plays them to the shared state as well, takes that state over, and learns what
part of the rate is its own. So a process that is alone behaves exactly as a pace by itself.
While the gate is stopped, and until it has reopened safely, every single request is asked for in
the shared state: then one process in all asks the provider whether it takes more.
"""

import math
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from headgate.core.allowance import Allowance
from headgate.core.budget import BudgetState
from headgate.core.ceiling import Ceilings
from headgate.core.membership import Member, alive, part_of, slots_of
from headgate.core.pace import Pace
from headgate.core.pace_state import Cause, PaceState, Reading


class Override(msgspec.Struct, frozen=True):
    """What an operator has said."""

    rate: float | None = None
    paused: bool = False
    until: float | None = None
    """When that ends; None: when the operator says so."""

    def holds(self, now: float) -> bool:
        """Whether it still counts."""
        return self.until is None or now < self.until


class GateState(msgspec.Struct, frozen=True):
    """What all processes know of a gate."""

    pace: PaceState
    members: Mapping[str, Member] = {}
    override: Override | None = None
    budget: BudgetState | None = None


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


class Share:
    """A limiter whose limit is shared; see `Limiter` for the first methods."""

    PERIOD_S = 1.0
    """How long a part is valid, about."""
    STALE_S = 2.5
    """A part that is older counts for nothing: we were frozen, or nobody asked for long."""
    SAFE_ANSWERS = 8
    """After so many answers a gate that reopened is taken to be open."""
    LOST_PART = 0.5
    """What is used of the last known part while the ledger does not answer."""

    def __init__(
        self,
        me: str,
        limits: Ceilings,
        allowance: Allowance | None = None,
        *,
        kind: type[Pace] = Pace,
    ) -> None:
        self._me = me
        self._limits = limits
        self._kind = kind
        self._pace = kind(limits)
        self._allowance = allowance
        self._events: list[Sent | Replied] = []
        self._played = 0
        """How many of them the last proposal holds."""
        self._members: dict[str, Member] = {}
        self._override: Override | None = None
        self._part = 0.0
        """Of the whole rate."""
        self._is_lost = False
        self._part_until = -math.inf
        self._due = 0.0
        self._granted = 0
        self._asked = False
        self._waiting = False
        self._in_flight = 0
        self._sent_since = 0
        self._synced = -math.inf
        self._is_leaving = False
        self.broken: Mapping[str, float] = {}
        """Hosts that do not answer us, each with the moment that we ask again."""
        self.urgent = False
        """Others must hear of it at once."""

    # ---- as every limiter

    def gate(self, now: float, in_flight: int) -> float:
        """The earliest moment; now: at once; infinite: after a reply or an exchange."""
        self._in_flight = in_flight
        at, cause = self._held(now, in_flight)
        if at > now:
            self._waiting = True
            self._pace.state.bound = cause
        return at

    def _held(self, now: float, in_flight: int) -> tuple[float, Cause]:
        override = self._override
        if override is not None and override.paused and override.holds(now):
            return math.inf if override.until is None else override.until, Cause.PAUSED
        if now >= self._part_until:
            return math.inf, Cause.LEASE
        if self._is_unsure:
            return self._by_permit(now, in_flight)
        if not self._part:
            return math.inf, Cause.LEASE
        cap = self._cap
        if cap is not None and in_flight >= self._members[self._me].slots:
            return math.inf, Cause.CONCURRENCY if self._limits.concurrency else Cause.CAP
        if len(self._members) < 2 and override is None:
            at = self._pace.gate(now, in_flight)
            return at, self._pace.state.bound
        if self._pace.closed_until > now:
            return self._pace.closed_until, self._pace.why(now)
        return max(now, self._due), Cause.RATE

    @property
    def _is_unsure(self) -> bool:
        """Whether every request must be asked for, since the gate is shut or has just opened."""
        state = self._pace.state
        reopening = state.opened and state.answered < self.SAFE_ANSWERS
        return len(self._members) > 1 and bool(state.stop.open or reopening)

    def _by_permit(self, now: float, in_flight: int) -> tuple[float, Cause]:
        if self._granted:
            return now, Cause.OPEN
        at = self._pace.gate(now, self._all_in_flight(in_flight))
        self._asked = at <= now
        if self._is_lost:
            return at, self._pace.state.bound  # nobody is there to be asked: each by itself
        return (math.inf if at <= now else at), self._pace.state.bound

    def on_send(self, now: float, in_flight: int) -> None:
        """A request goes out."""
        self._in_flight = in_flight
        self._sent_since += 1
        self._waiting = False
        if self._part:
            self._due = max(self._due, now) + 1 / self.rate(now)
        if self._granted:
            self._granted -= 1  # it stands in the shared state already
            return
        event = Sent(now, self._all_in_flight(in_flight), self._pace.state.bound, self._knows())
        self._events.append(event)
        self._pace.on_send(now, event.in_flight)

    def on_reply(
        self,
        now: float,
        sent_at: float,
        in_flight: int,
        status: int,
        headers: Mapping[str, str],
        latency: float,
    ) -> Reading:
        """A reply came; status 0: none will."""
        everybody = self._all_in_flight(in_flight)
        self._events.append(Replied(now, sent_at, everybody, status, headers, latency))
        was_open = self._pace.state.stop.open
        reading = self._pace.on_reply(now, sent_at, everybody, status, headers, latency)
        if was_open != self._pace.state.stop.open:
            self.urgent = True
        return reading

    def why(self, now: float) -> Cause:
        """What held back the request that was last asked for."""
        return self._held(now, self._in_flight)[1]

    def rate(self, now: float) -> float:
        """Requests a second that are ours."""
        return self._part * self._whole_rate(now, self._pace, self._override)

    @property
    def closed_until(self) -> float:
        """When it opens again; in the past if it is open."""
        override = self._override
        if override is not None and override.paused:
            return math.inf if override.until is None else override.until
        return self._pace.closed_until

    # ---- with the ledger

    def due(self, now: float) -> bool:
        """Whether it is time for an exchange."""
        if self._is_lost:
            return now - self._synced >= self.PERIOD_S
        if self.urgent or (self._asked and self._waiting):
            return True
        if self._allowance is not None and self._allowance.due(now):
            return True
        if self._events and self._is_unsure:
            return True  # what was delivered until then decides what the stop means
        return now - self._synced >= self.PERIOD_S

    @property
    def idle(self) -> bool:
        """Whether nothing has happened since the last exchange, and nobody waits."""
        if self._allowance is not None and not self._allowance.idle:
            return False
        busy = self._events or self._waiting or self._in_flight or self._sent_since
        mine = self._members.get(self._me)
        return not busy and (mine is None or mine.broken == self.broken)

    def leave(self) -> None:
        """The next exchange is the last: what is ours goes back to the others."""
        self._is_leaving = True

    def merge(self, state: GateState | None, now: float) -> GateState:
        """The shared state with what happened here since; asked again when somebody was faster."""
        pace = self._limited(state.pace) if state else self._kind(self._limits)
        self._played = len(self._events)
        for event in self._events:
            _play(pace, event)
        members = alive(state.members, now) if state else {}
        members[self._me] = self._myself(now)
        override = state.override if state else None
        self._ask(pace, members, now)
        cap = self._cap_of(pace)
        slots = 0 if cap is None else slots_of(members, self._me, cap)
        part = part_of(members, self._me, self._whole_rate(now, pace, override))
        members[self._me] = msgspec.structs.replace(members[self._me], slots=slots, part=part)
        if self._is_leaving:
            del members[self._me]
        budget = state.budget if state else None
        if self._allowance is not None:
            drawing = 0 if self._is_leaving else len(members)
            budget = self._allowance.draw(budget, now, drawing, self._spare(members))
            members = self._with_drawn(members, self._allowance.drawn)
        return GateState(pace.state, members, override, budget)

    def _spare(self, members: Mapping[str, Member]) -> Mapping[str, float]:
        """What the others may still give back of a budget."""
        spare: Counter[str] = Counter()
        for name, each in members.items():
            if name != self._me:
                spare.update(each.drawn)
        return spare

    def _with_drawn(
        self, members: dict[str, Member], drawn: Mapping[str, float]
    ) -> dict[str, Member]:
        if self._me in members:
            members[self._me] = msgspec.structs.replace(members[self._me], drawn=drawn)
        return members

    def _ask(self, pace: Pace, members: dict[str, Member], now: float) -> None:
        """Take a permit, if one is wanted and there is one."""
        self._offered = 0
        if not (self._asked and self._waiting and len(members) > 1):
            return
        flying = sum(each.in_flight for each in members.values())
        if pace.gate(now, flying) <= now:
            pace.on_send(now, flying + 1)
            self._offered = 1
            mine = members[self._me]
            members[self._me] = msgspec.structs.replace(mine, in_flight=mine.in_flight + 1)

    def _myself(self, now: float) -> Member:
        before = self._members.get(self._me)
        seconds = max(now - self._synced, 0.05)
        eager = self._waiting or math.isinf(self._synced)
        need = -1.0 if eager else 1.25 * self._sent_since / min(seconds, 60.0) + 1.0
        slots = before.slots if before else 0
        in_flight = self._in_flight + self._granted
        part = before.part if before else 0.0
        return Member(now, need, in_flight, slots, self._waiting, part, broken=dict(self.broken))

    def accepted(self, state: GateState, now: float) -> None:
        """The proposal was kept: the state is ours, with what has happened since."""
        del self._events[: self._played]
        self._granted += self._offered
        self._offered = self._played = 0
        self._sent_since = 0
        self._asked = self.urgent = self._waiting = False
        if self._allowance is not None and state.budget is not None:
            self._allowance.accepted(state.budget, now)
        self._take_over(state, now)

    def seen(self, state: GateState, now: float) -> None:
        """Somebody else has changed it."""
        self._offered = self._played = 0
        if self._allowance is not None and state.budget is not None:
            self._allowance.seen(state.budget)
        self._take_over(state, now)

    def lost(self, now: float) -> None:
        """The ledger does not answer: go on with less, neither stop nor flood."""
        if not self._is_lost:
            self._part = self.LOST_PART * (self._part if self._members else 1.0)
        self._is_lost = True
        self._part_until = now + self.STALE_S
        self._synced = now
        self._members.setdefault(self._me, Member(now, -1.0, slots=1))
        if self._allowance is not None:
            self._allowance.lost(now, len(self._members))

    def _take_over(self, state: GateState, now: float) -> None:
        self._pace = self._limited(state.pace)
        for event in self._events:
            _play(self._pace, event)
        self._members = dict(state.members)
        self._members.setdefault(self._me, self._myself(now))
        self._override = state.override
        self._synced = now
        self._is_lost = False
        self._part_until = now + self.STALE_S
        self._part = self._members[self._me].part
        if self._part:
            self._due = min(self._due, now + 1 / self.rate(now))

    def _whole_rate(self, now: float, pace: Pace, override: Override | None) -> float:
        """The level, also while the gate is closed."""
        if override is not None and override.rate is not None and override.holds(now):
            return override.rate
        return min(pace.state.rate.value, self._limits.rate or math.inf)

    def _limited(self, state: PaceState) -> Pace:
        return self._kind.from_state(state, self._limits)

    def _knows(self) -> float:
        stop = self._pace.state.stop
        return stop.noticed if stop.open else 0.0

    def _all_in_flight(self, mine: int) -> int:
        others = sum(each.in_flight for name, each in self._members.items() if name != self._me)
        return mine + others

    @property
    def _cap(self) -> int | None:
        return self._cap_of(self._pace) if len(self._members) > 1 else None

    @staticmethod
    def _cap_of(pace: Pace) -> int | None:
        return pace.cap


def _play(pace: Pace, event: Sent | Replied) -> None:
    if isinstance(event, Sent):
        state = pace.state
        if event.at < state.opened or (state.stop.open and event.knew != state.stop.noticed):
            return  # its sender did not know of the stop, so it reopens nothing
        last = state.sent_at
        state.bound = event.bound
        pace.on_send(event.at, event.in_flight)
        state.sent_at = max(last, event.at)  # others' may be known already: no time counts twice
    else:
        pace.on_reply(*event)
