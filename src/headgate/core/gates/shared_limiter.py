"""One process's part in a gate that several share.

Each process keeps a copy of the pace and lets it see its own requests and replies at once; about
once a second it plays them to the shared state as well, takes that state over, and learns what
part of the rate is its own. So a process that is alone behaves exactly as a pace by itself.
While the gate is stopped, and until it has reopened safely, every single request is asked for in
the shared state: then one process in all asks the provider whether it takes more.
"""

import math
from collections.abc import Mapping

import msgspec

from headgate.core.gates import fair_split
from headgate.core.gates.budget import BudgetState
from headgate.core.gates.budget_share import BudgetShare
from headgate.core.gates.events import MeanInFlight, Replied, Sent, play
from headgate.core.gates.fair_split import Member
from headgate.core.gates.send_slots import SendSlots, SlotLines
from headgate.core.gates.state import GateState, Override
from headgate.core.pacing.pace import Pace
from headgate.core.pacing.state import Cause, PaceReading, PaceState
from headgate.core.rate import Ceilings


class SharedLimiter:
    """A limiter whose limit is shared; see `Limiter` for the first methods."""

    LEAST_S = 0.05
    """No two exchanges for bookings follow each other faster."""
    PLACE_S = 0.2
    """How often those ask who have no place in flight and want one."""
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
        allowance: BudgetShare | None = None,
        *,
        kind: type[Pace] = Pace,
    ) -> None:
        self._me = me
        self._limits = limits
        self._ceiling = limits.rate
        self._kind = kind
        self._pace = kind(limits)
        self._allowance = allowance
        self._events: list[Sent | Replied] = []
        self._played = 0
        """How many of them the last proposal holds."""
        self._members: dict[str, Member] = {}
        self._override: Override | None = None
        self._part = 1.0
        """Of the whole rate."""
        self._quota = 0
        """With so many in flight we begin no other, where that is limited."""
        self._send_slots = SendSlots()
        self._stop_heard = 0.0
        """The last stop that we know of, by when it was noticed."""
        self._stop_heard_at = 0.0
        self._is_lost = False
        self._part_until = -math.inf
        self._due = 0.0
        self._granted = 0
        self._asked = False
        self._waiting = False
        self.in_flight = 0
        """Our own, as far as we were told."""
        self._sent_since = 0
        self._mean_in_flight = MeanInFlight()
        self._synced = -math.inf
        self._is_leaving = False
        self.down: fair_split.Down = {}
        """Hosts that do not answer us, and when we ask again."""
        self.urgent = False
        """Others must hear of it at once."""

    # ---- as every limiter

    def gate(self, now: float, in_flight: int) -> float:
        """The earliest moment; now: at once; infinite: after a reply or an exchange."""
        self.in_flight = in_flight
        at, cause = self._held(now, in_flight)
        if at > now:
            self._waiting = True
            self._pace.state.bound = cause
        return at

    def _held(self, now: float, in_flight: int) -> tuple[float, Cause]:
        override = self._override if self._override and self._override.holds(now) else None
        if override is not None and override.paused:
            return override.end, Cause.PAUSED
        if now >= self._part_until:
            return math.inf, Cause.LEASE
        if self._is_unsure:
            return self._by_permit(now, in_flight)
        if self._shares_cap and in_flight >= self._quota:
            return math.inf, Cause.CONCURRENCY if self._limits.concurrency else Cause.CAP
        if len(self._members) < 2 and override is None and not self._is_lost:
            at = self._pace.gate(now, in_flight)
            return at, self._pace.state.bound
        if self._pace.closed_until > now:
            return self._pace.closed_until, self._pace.why(now)
        booked = self._send_slots.next(now) if self._books(now) else now
        return max(now, booked, self._due), Cause.RATE

    @property
    def _shares_cap(self) -> bool:
        return len(self._members) > 1 and self._pace.cap is not None

    def _books(self, now: float) -> bool:
        """Whether every moment must be booked, so that it is ours alone."""
        if len(self._members) < 2 or self._is_lost:
            return False
        return self._whole_rate(now, self._pace, self._override) <= SendSlots.MOST

    @property
    def _is_unsure(self) -> bool:
        """Whether every request must be asked for, since the gate is shut or has just opened."""
        return len(self._members) > 1 and self._is_shaky(self._pace.state)

    def _is_shaky(self, state: PaceState) -> bool:
        return bool(state.stop.open or (state.opened and state.answered < self.SAFE_ANSWERS))

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
        self.in_flight = in_flight
        self._sent_since += 1
        self._waiting = False
        rate = self._whole_rate(now, self._pace, self._override)
        self._due = max(self._due, now) + 1 / (rate if self._books(now) else self._part * rate)
        if self._granted:
            self._granted -= 1  # it stands in the shared state already
            return
        self._send_slots.use()
        event = Sent(now, self._crowd(in_flight), self._pace.state.bound, self._knows())
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
    ) -> PaceReading:
        """A reply came; status 0: none will."""
        self._mean_in_flight.landed(latency)
        everybody = self._crowd(in_flight)
        knew = self._knows() if sent_at >= self._stop_heard_at else 0.0
        event = Replied(now, sent_at, everybody, status, headers, latency, knew)
        self._events.append(event)
        was_open = self._pace.state.stop.open
        reading = play(self._pace, event)
        if was_open != self._pace.state.stop.open:
            self.urgent, self._stop_heard_at = True, now
        return reading

    def why(self, now: float) -> Cause:
        """What held back the request that was last asked for."""
        return self._held(now, self.in_flight)[1]

    def rate(self, now: float) -> float:
        """Requests a second that are ours."""
        return self._part * self._whole_rate(now, self._pace, self._override)

    @property
    def closed_until(self) -> float:
        """When it opens again; in the past if it is open."""
        pause = self._override
        if pause is None or not pause.paused:
            return self._pace.closed_until
        return max(pause.end, self._pace.closed_until)

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
        if self._needs_send_slots(now):
            return True
        return now - self._synced >= (self.PLACE_S if self._needs_place else self.PERIOD_S)

    @property
    def _needs_place(self) -> bool:
        """Whether somebody waits, and all places in flight are others'."""
        mine = self._members.get(self._me)
        return self._shares_cap and self._waiting and mine is not None and not mine.slots

    def _needs_send_slots(self, now: float) -> bool:
        wants = self._waiting or self._sent_since > 0
        if not wants or self._is_unsure or now - self._synced < self.LEAST_S:
            return False
        return self._send_slots.are_short(now) and self._books(now)

    @property
    def idle(self) -> bool:
        """Whether nothing has happened since the last exchange, and nobody waits."""
        if self._allowance is not None and not self._allowance.idle:
            return False
        busy = self._events or self._waiting or self.in_flight or self._sent_since
        mine = self._members.get(self._me)
        return not busy and (mine is None or mine.down == self.down)

    def leave(self) -> None:
        """The next exchange is the last: what is ours goes back to the others."""
        self._is_leaving = True

    def merge(self, state: GateState | None, now: float) -> GateState:
        """The shared state with what happened here since; asked again when somebody was faster."""
        shared = state or GateState(self._kind(self._limits).state)
        pace = self._kind.from_state(shared.pace, self._limits)
        self._played = len(self._events)
        for event in self._events:
            play(pace, event)
        members = fair_split.alive(shared.members, now)
        if self._me not in shared.members and len(members) < len(shared.members):
            self.urgent = True  # whoever seems to be gone may only have had another clock
        members[self._me] = self._myself(members, now)
        self._ask(pace, members, now)
        if pace.cap is not None:
            self._note(members, slots=fair_split.slots_of(members, self._me, pace.cap))
        lines = self._book(shared, pace, members, now)
        budget = self._draw(shared, members, now)
        if self._is_leaving:
            del members[self._me]
        return GateState(pace.state, members, shared.override, budget, lines)

    def _note(self, members: dict[str, Member], **changes: object) -> None:
        members[self._me] = msgspec.structs.replace(members[self._me], **changes)

    def _book(
        self, shared: GateState, pace: Pace, members: dict[str, Member], now: float
    ) -> tuple[float, ...]:
        """Propose the moments that are to be ours; the lines as they are then."""
        if len(members) == 1:
            return ()
        if not fair_split.is_known(members, self._me):
            self.urgent = self.urgent or members[self._me].joined == now
            return shared.lines
        rate = self._whole_rate(now, pace, shared.override)
        if self._is_shaky(pace.state) or rate > SendSlots.MOST:
            return ()
        part = fair_split.part_of(members, self._me, rate) / rate
        lag = fair_split.lag_of(members, self._me)
        standing = SlotLines(rate, part, len(members), lag, pace.state.due)
        lines = self._send_slots.book(shared.lines, now, standing)
        self._note(members, had=members[self._me].had + self._send_slots.offered)
        return tuple(lines)

    def _draw(
        self, shared: GateState, members: dict[str, Member], now: float
    ) -> BudgetState | None:
        """Propose what is to be ours of the budget."""
        if self._allowance is None:
            return shared.budget
        drawing = 0 if self._is_leaving else len(members)
        spare = fair_split.spare_of(members, self._me)
        budget = self._allowance.draw(shared.budget, now, drawing, spare)
        self._note(members, drawn=self._allowance.drawn)
        return budget

    def _ask(self, pace: Pace, members: dict[str, Member], now: float) -> None:
        """Take a permit, if one is wanted and there is one."""
        self._offered = 0
        if not (self._asked and self._waiting and len(members) > 1):
            return
        mean_in_flight = sum(each.in_flight for each in members.values())
        if pace.gate(now, mean_in_flight) <= now:
            pace.on_send(now, mean_in_flight + 1)
            self._offered = 1
            mine = members[self._me]
            self._note(members, in_flight=mine.in_flight + 1, had=mine.had + 1)

    def _myself(self, members: Mapping[str, Member], now: float) -> Member:
        before = members.get(self._me)
        seconds = max(now - self._synced, 0.05)
        eager = self._waiting or math.isinf(self._synced)
        need = -1.0 if eager else 1.25 * self._sent_since / min(seconds, 60.0) + 1.0
        return Member(
            seen=now,
            need=need,
            in_flight=self.in_flight + self._granted,
            mean_in_flight=self._mean_in_flight.at(now),
            slots=before.slots if before else 0,
            joined=before.joined if before else now,
            had=before.had if before else max((each.had for each in members.values()), default=0),
            waiting=self._waiting,
            **fair_split.as_fields(self.down),
        )

    def accepted(self, state: GateState, now: float) -> None:
        """The proposal was kept: the state is ours, with what has happened since."""
        del self._events[: self._played]
        self._granted += self._offered
        self._offered = self._played = 0
        self._sent_since = 0
        self._mean_in_flight.turn(now)
        self._synced = now
        self._asked = self.urgent = self._waiting = False
        self._send_slots.accept()
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
            self._part *= self.LOST_PART
        self._is_lost = True
        self._part_until = now + self.STALE_S
        self._synced = now
        self._quota = self._members.setdefault(self._me, Member(now, -1.0, slots=1)).slots
        if self._allowance is not None:
            self._allowance.lost(now, len(self._members))

    def _take_over(self, state: GateState, now: float) -> None:
        self._pace = self._kind.from_state(state.pace, self._limits)
        for event in self._events:
            play(self._pace, event)
        self._members = dict(state.members)
        self._members.setdefault(self._me, self._myself(self._members, now))
        self._override = state.override
        self._is_lost = False
        self._part_until = now + self.STALE_S
        is_news = state.pace.stop.noticed != self._stop_heard
        if is_news:
            self._stop_heard, self._stop_heard_at = state.pace.stop.noticed, now
        if is_news or self._is_shaky(state.pace):
            self._send_slots.clear()
        cap, mine = self._pace.cap, self._members[self._me]
        self._quota = (
            mine.slots if cap is None else fair_split.quota_of(self._members, self._me, cap)
        )
        whole = self._whole_rate(now, self._pace, self._override)
        self._part = fair_split.part_of(self._members, self._me, whole) / whole
        self._due = min(self._due, now + 1 / self.rate(now))

    def _whole_rate(self, now: float, pace: Pace, override: Override | None) -> float:
        """The level, also while the gate is closed."""
        if override is not None and override.rate is not None and override.holds(now):
            return override.rate
        level, ceiling = pace.state.rate, self._ceiling
        if ceiling is None:
            return level.speed(now)
        return ceiling if level.known is None else min(level.speed(now), ceiling)

    def _knows(self) -> float:
        stop = self._pace.state.stop
        return stop.noticed if stop.open else 0.0

    def _all_in_flight(self, mine: int) -> int:
        others = sum(each.in_flight for name, each in self._members.items() if name != self._me)
        return mine + others

    def _crowd(self, mine: int) -> int:
        """How many are at the provider with one of ours.

        What others had in flight at their last exchange says little about this moment, and each
        sends in stretches; so among several it is the mean of all that counts.
        """
        if len(self._members) < 2 or self._is_unsure:
            return self._all_in_flight(mine)
        others = sum(
            each.mean_in_flight for name, each in self._members.items() if name != self._me
        )
        return max(1, round(self._mean_in_flight.mean + others))
