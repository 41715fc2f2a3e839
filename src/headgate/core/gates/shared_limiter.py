"""The part of one process in a gate that several processes share.

Each process keeps a copy of the pace and applies its own requests and replies to it at once. About
once a second it also applies them to the shared state, takes that state over, and gets its part of
the rate. So a process that is alone behaves exactly like a single pace. While the gate is stopped,
and until it has reopened safely, every request needs a permit from the shared state: then only one
process at a time tests whether the provider accepts more.
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
    """Shortest time between two exchanges for bookings, in seconds."""
    PLACE_S = 0.2
    """Seconds between exchanges of a process that has no slot in flight and wants one."""
    PERIOD_S = 1.0
    """Seconds between exchanges, and about how long a part is valid."""
    STALE_S = 2.5
    """Seconds after which a part is void: the process was frozen, or sent nothing for long."""
    SAFE_ANSWERS = 8
    """Answers after which a gate that reopened counts as open."""
    LOST_PART = 0.5
    """Share of the last known part that is used while the ledger does not answer."""

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
        self._members: dict[str, Member] = {}
        self._override: Override | None = None
        self._part = 1.0
        """Share of the whole rate."""
        self._quota = 0
        """Number in flight at which we send no further request, where that is limited."""
        self._send_slots = SendSlots()
        self._known_stop = 0.0
        """Notice time of the last stop that we know of."""
        self._known_stop_at = 0.0
        self._is_lost = False
        self._part_until = -math.inf
        self._due = 0.0
        self._granted = 0
        self._asked = False
        self._waiting = False
        self.in_flight = 0
        """Our own requests, as last reported by the caller."""
        self._sent_since = 0
        self._mean_in_flight = MeanInFlight()
        self._synced = -math.inf
        self._is_leaving = False
        self.down: fair_split.Down = {}
        """Hosts that do not answer us, with the time of the next trial."""
        self.urgent = False
        """Others must know at once: exchange now."""

    # ---- methods of every limiter

    def gate(self, now: float, in_flight: int) -> float:
        """The earliest time to send; infinite: after a reply or an exchange."""
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
        """Whether every request needs a booked slot, which no other process has."""
        if len(self._members) < 2 or self._is_lost:
            return False
        return self._whole_rate(now, self._pace, self._override) <= SendSlots.MOST

    @property
    def _is_unsure(self) -> bool:
        """True if every request needs a permit, since the gate is stopped or has just reopened."""
        return len(self._members) > 1 and self._is_shaky(self._pace.state)

    def _is_shaky(self, state: PaceState) -> bool:
        return bool(state.stop.open or (state.opened and state.answered < self.SAFE_ANSWERS))

    def _by_permit(self, now: float, in_flight: int) -> tuple[float, Cause]:
        if self._granted:
            return now, Cause.OPEN
        at = self._pace.gate(now, self._all_in_flight(in_flight))
        self._asked = at <= now
        if self._is_lost:
            return at, self._pace.state.bound  # without the ledger, each decides by itself
        return (math.inf if at <= now else at), self._pace.state.bound

    def on_send(self, now: float, in_flight: int) -> None:
        self.in_flight = in_flight
        self._sent_since += 1
        self._waiting = False
        rate = self._whole_rate(now, self._pace, self._override)
        self._due = max(self._due, now) + 1 / (rate if self._books(now) else self._part * rate)
        if self._granted:
            self._granted -= 1  # the shared state counts it already
            return
        self._send_slots.use()
        event = Sent(
            now, self._provider_in_flight(in_flight), self._pace.state.bound, self._open_stop()
        )
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
        """Status 0: no reply will come."""
        self._mean_in_flight.landed(latency)
        total = self._provider_in_flight(in_flight)
        knew = self._open_stop() if sent_at >= self._known_stop_at else 0.0
        event = Replied(now, sent_at, total, status, headers, latency, knew)
        self._events.append(event)
        was_open = self._pace.state.stop.open
        reading = play(self._pace, event)
        if was_open != self._pace.state.stop.open:
            self.urgent, self._known_stop_at = True, now
        return reading

    def why(self, now: float) -> Cause:
        """What held back the request that last asked to be sent."""
        return self._held(now, self.in_flight)[1]

    def rate(self, now: float) -> float:
        """Our part, in requests a second."""
        return self._part * self._whole_rate(now, self._pace, self._override)

    @property
    def closed_until(self) -> float:
        """When the gate opens again; in the past if it is open."""
        pause = self._override
        if pause is None or not pause.paused:
            return self._pace.closed_until
        return max(pause.end, self._pace.closed_until)

    # ---- exchanges with the ledger

    def due(self, now: float) -> bool:
        if self._is_lost:
            return now - self._synced >= self.PERIOD_S
        if self.urgent or (self._asked and self._waiting):
            return True
        if self._allowance is not None and self._allowance.due(now):
            return True
        if self._events and self._is_unsure:
            return True  # replies until then decide what the stop means
        if self._needs_send_slots(now):
            return True
        return now - self._synced >= (self.PLACE_S if self._needs_place else self.PERIOD_S)

    @property
    def _needs_place(self) -> bool:
        """A request waits, and other processes have all slots."""
        mine = self._members.get(self._me)
        return self._shares_cap and self._waiting and mine is not None and not mine.slots

    def _needs_send_slots(self, now: float) -> bool:
        wants = self._waiting or self._sent_since > 0
        if not wants or self._is_unsure or now - self._synced < self.LEAST_S:
            return False
        return self._send_slots.are_short(now) and self._books(now)

    @property
    def idle(self) -> bool:
        """True if nothing has happened since the last exchange and no request waits."""
        if self._allowance is not None and not self._allowance.idle:
            return False
        busy = self._events or self._waiting or self.in_flight or self._sent_since
        mine = self._members.get(self._me)
        return not busy and (mine is None or mine.down == self.down)

    def leave(self) -> None:
        """The next exchange is the last; it gives our part back to the others."""
        self._is_leaving = True

    def merge(self, state: GateState | None, now: float) -> GateState:
        """Propose the shared state with our events; called again if another process was faster."""
        shared = state or GateState(self._kind(self._limits).state)
        pace = self._kind.from_state(shared.pace, self._limits)
        self._played = len(self._events)
        for event in self._events:
            play(pace, event)
        members = fair_split.alive(shared.members, now)
        if self._me not in shared.members and len(members) < len(shared.members):
            self.urgent = True  # a process that seems gone may only have a different clock
        members[self._me] = self._own_member(members, now)
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
        """Propose the slots to book; return the lines after that."""
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
        if self._allowance is None:
            return shared.budget
        drawing = 0 if self._is_leaving else len(members)
        spare = fair_split.spare_of(members, self._me)
        budget = self._allowance.draw(shared.budget, now, drawing, spare)
        self._note(members, drawn=self._allowance.drawn)
        return budget

    def _ask(self, pace: Pace, members: dict[str, Member], now: float) -> None:
        self._offered = 0
        if not (self._asked and self._waiting and len(members) > 1):
            return
        mean_in_flight = sum(each.in_flight for each in members.values())
        if pace.gate(now, mean_in_flight) <= now:
            pace.on_send(now, mean_in_flight + 1)
            self._offered = 1
            mine = members[self._me]
            self._note(members, in_flight=mine.in_flight + 1, had=mine.had + 1)

    def _own_member(self, members: Mapping[str, Member], now: float) -> Member:
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
        """The ledger holds our proposal: take its state over, plus what has happened since."""
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
        self._offered = self._played = 0
        if self._allowance is not None and state.budget is not None:
            self._allowance.seen(state.budget)
        self._take_over(state, now)

    def lost(self, now: float) -> None:
        """The ledger does not answer: continue at a lower rate."""
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
        self._members.setdefault(self._me, self._own_member(self._members, now))
        self._override = state.override
        self._is_lost = False
        self._part_until = now + self.STALE_S
        is_news = state.pace.stop.noticed != self._known_stop
        if is_news:
            self._known_stop, self._known_stop_at = state.pace.stop.noticed, now
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

    def _open_stop(self) -> float:
        stop = self._pace.state.stop
        return stop.noticed if stop.open else 0.0

    def _all_in_flight(self, mine: int) -> int:
        others = sum(each.in_flight for name, each in self._members.items() if name != self._me)
        return mine + others

    def _provider_in_flight(self, mine: int) -> int:
        """Number of requests at the provider together with one of ours.

        The others' numbers of their last exchange are old, and each process sends in bursts; so
        with several processes the mean counts.
        """
        if len(self._members) < 2 or self._is_unsure:
            return self._all_in_flight(mine)
        others = sum(
            each.mean_in_flight for name, each in self._members.items() if name != self._me
        )
        return max(1, round(self._mean_in_flight.mean + others))
