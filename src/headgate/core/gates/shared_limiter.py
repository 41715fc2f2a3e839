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
from headgate.core.gates.fair_split import ProcessShare
from headgate.core.gates.pace_copy import PaceCopy
from headgate.core.gates.send_slots import Permits, SendSlots, SlotLines
from headgate.core.gates.state import GateState, Member
from headgate.core.gates.usage import ProcessUsage
from headgate.core.pacing.pace import Pace
from headgate.core.pacing.state import Cause, PaceReading
from headgate.core.rate import Ceilings


class SharedLimiter:
    """A limiter whose limit is shared; see `Limiter` for the first methods."""

    LEAST_S = 0.05
    """Shortest time between two exchanges for bookings, in seconds."""
    PLACE_S = 0.2
    """Seconds between exchanges of a process that has no slot in flight and wants one."""
    PERIOD_S = 1.0
    """Seconds between exchanges, and about how long a part is valid."""

    def __init__(
        self,
        me: str,
        limits: Ceilings,
        allowance: BudgetShare | None = None,
        *,
        kind: type[Pace] = Pace,
    ) -> None:
        self._full = Cause.CONCURRENCY if limits.concurrency else Cause.CAP
        self._copy = PaceCopy(limits, kind)
        self._share = ProcessShare(me)
        self.usage = ProcessUsage()
        self._send_slots = SendSlots()
        self._permits = Permits()
        self._allowance = allowance
        self._next_at = 0.0
        """When our next request may be sent, at our part of the rate."""
        self._is_leaving = False
        self.urgent = False
        """Others must know at once: exchange now."""

    # ---- methods of every limiter

    def gate(self, now: float, in_flight: int) -> float:
        """The earliest time to send; infinite: after a reply or an exchange."""
        self.usage.in_flight = in_flight
        at, cause = self._held(now, in_flight)
        if at > now:
            self.usage.waiting = True
            self._copy.pace.state.bound = cause
        return at

    def _held(self, now: float, in_flight: int) -> tuple[float, Cause]:
        share, pace = self._share, self._copy.pace
        override = share.override if share.override and share.override.holds(now) else None
        if override is not None and override.paused:
            return override.end, Cause.PAUSED
        if now >= share.until:
            return math.inf, Cause.LEASE
        if share.is_alone:
            if override is None and not share.is_lost:
                at = pace.gate(now, in_flight)
                return at, pace.state.bound
        elif self._copy.is_shaky:
            return self._by_permit(now, in_flight)
        elif pace.cap is not None and in_flight >= share.quota:
            return math.inf, self._full
        if pace.closed_until > now:
            return pace.closed_until, pace.why(now)
        booked = self._send_slots.next(now) if self._books(now) else now
        return max(now, booked, self._next_at), Cause.RATE

    def _books(self, now: float) -> bool:
        """Whether every request needs a booked slot, which no other process has."""
        share = self._share
        if share.is_alone or share.is_lost:
            return False
        return self._copy.whole_rate(now, share.override) <= SendSlots.MOST

    @property
    def _needs_permits(self) -> bool:
        """True if every request needs a permit, since the gate is stopped or has just reopened."""
        return not self._share.is_alone and self._copy.is_shaky

    def _by_permit(self, now: float, in_flight: int) -> tuple[float, Cause]:
        if self._permits.granted:
            return now, Cause.OPEN
        pace = self._copy.pace
        at = pace.gate(now, self._share.in_flight(in_flight))
        self._permits.are_needed = at <= now
        if self._share.is_lost:
            return at, pace.state.bound  # without the ledger, each decides by itself
        return (math.inf if at <= now else at), pace.state.bound

    def on_send(self, now: float, in_flight: int) -> None:
        usage, share = self.usage, self._share
        usage.in_flight = in_flight
        usage.sent += 1
        usage.waiting = False
        rate = self._copy.whole_rate(now, share.override)
        part = 1.0 if self._books(now) else share.part
        self._next_at = max(self._next_at, now) + 1 / (part * rate)
        if self._permits.use():
            return  # the shared state counts it already
        self._send_slots.use()
        self._copy.on_send(now, self._provider_in_flight(in_flight))

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
        copy = self._copy
        self.usage.mean_in_flight.replied(latency)
        total = self._provider_in_flight(in_flight)
        was_open = copy.pace.state.stop.open
        reading = copy.on_reply(now, sent_at, total, status, headers, latency)
        if was_open != copy.pace.state.stop.open:
            self.urgent = True
        return reading

    def _provider_in_flight(self, mine: int) -> int:
        """Number of requests at the provider together with one of ours.

        The others' numbers of their last exchange are old, and each process sends in bursts; so
        with several processes the mean counts.
        """
        share = self._share
        if share.is_alone or self._copy.is_shaky:
            return share.in_flight(mine)
        return max(1, round(share.mean_in_flight(self.usage.mean_in_flight.mean)))

    def why(self, now: float) -> Cause:
        return self._held(now, self.usage.in_flight)[1]

    def rate(self, now: float) -> float:
        """Our part, in requests a second."""
        return self._share.part * self._copy.whole_rate(now, self._share.override)

    @property
    def closed_until(self) -> float:
        pause, closed_until = self._share.override, self._copy.pace.closed_until
        if pause is None or not pause.paused:
            return closed_until
        return max(pause.end, closed_until)

    # ---- when to exchange with the ledger

    def due(self, now: float) -> bool:
        since_s = now - self.usage.exchanged_at
        if self._share.is_lost:
            return since_s >= self.PERIOD_S
        if self.urgent or (self._permits.are_needed and self.usage.waiting):
            return True
        if self._allowance is not None and self._allowance.due(now):
            return True
        if self._copy.has_events and self._needs_permits:
            return True  # replies until then decide what the stop means
        if self._needs_send_slots(now):
            return True
        return since_s >= (self.PLACE_S if self._needs_place else self.PERIOD_S)

    @property
    def _needs_place(self) -> bool:
        """A request waits, and other processes have all slots."""
        share, mine = self._share, self._share.mine
        shares_cap = not share.is_alone and self._copy.pace.cap is not None
        return shares_cap and self.usage.waiting and mine is not None and not mine.slots

    def _needs_send_slots(self, now: float) -> bool:
        usage = self.usage
        wants = usage.waiting or usage.sent > 0
        if not wants or self._needs_permits or now - usage.exchanged_at < self.LEAST_S:
            return False
        return self._send_slots.are_short(now) and self._books(now)

    @property
    def idle(self) -> bool:
        """True if nothing has happened since the last exchange and no request waits."""
        if self._allowance is not None and not self._allowance.idle:
            return False
        mine = self._share.mine
        is_idle = self.usage.is_idle and not self._copy.has_events
        return is_idle and (mine is None or mine.down == self.usage.down)

    # ---- an exchange: propose a state, then take over what the ledger holds

    def leave(self) -> None:
        """The next exchange is the last; it gives our part back to the others."""
        self._is_leaving = True

    def merge(self, state: GateState | None, now: float) -> GateState:
        """Propose the shared state with our events; called again if another process was faster."""
        shared = state or GateState(self._copy.first_state())
        pace = self._copy.propose(shared.pace)
        me = self._share.me
        members = fair_split.alive(shared.members, now)
        if me not in shared.members and len(members) < len(shared.members):
            self.urgent = True  # a process that seems gone may only have a different clock
        members[me] = self._own_member(members, now)
        self._ask(pace, members, now)
        if pace.cap is not None:
            self._note(members, slots=fair_split.slots_of(members, me, pace.cap))
        lines = self._book(shared, pace, members, now)
        budget = self._draw(shared, members, now)
        if self._is_leaving:
            del members[me]
        return GateState(pace.state, members, shared.override, budget, lines)

    def _own_member(self, members: Mapping[str, Member], now: float) -> Member:
        before = members.get(self._share.me)
        return self.usage.member(before, members, self._permits.granted, now)

    def _note(self, members: dict[str, Member], **changes: object) -> None:
        me = self._share.me
        members[me] = msgspec.structs.replace(members[me], **changes)

    def _ask(self, pace: Pace, members: dict[str, Member], now: float) -> None:
        self._permits.reject()
        if not (self._permits.are_needed and self.usage.waiting and len(members) > 1):
            return
        in_flight = sum(each.in_flight for each in members.values())
        if pace.gate(now, in_flight) <= now:
            pace.on_send(now, in_flight + 1)
            self._permits.propose()
            mine = members[self._share.me]
            self._note(members, in_flight=mine.in_flight + 1, had=mine.had + 1)

    def _book(
        self, shared: GateState, pace: Pace, members: dict[str, Member], now: float
    ) -> tuple[float, ...]:
        """Propose the slots to book; return the lines after that."""
        me = self._share.me
        if len(members) == 1:
            return ()
        if not fair_split.is_known(members, me):
            self.urgent = self.urgent or members[me].joined == now
            return shared.lines
        rate = self._copy.whole_rate(now, shared.override, pace)
        if self._copy.is_unsafe(pace.state) or rate > SendSlots.MOST:
            return ()
        part = fair_split.part_of(members, me, rate) / rate
        lag = fair_split.lag_of(members, me)
        standing = SlotLines(rate, part, len(members), lag, pace.state.due)
        lines = self._send_slots.book(shared.lines, now, standing)
        self._note(members, had=members[me].had + self._send_slots.offered)
        return tuple(lines)

    def _draw(
        self, shared: GateState, members: dict[str, Member], now: float
    ) -> BudgetState | None:
        if self._allowance is None:
            return shared.budget
        drawing = 0 if self._is_leaving else len(members)
        spare = fair_split.spare_of(members, self._share.me)
        budget = self._allowance.draw(shared.budget, now, drawing, spare)
        self._note(members, drawn=self._allowance.drawn)
        return budget

    def accepted(self, state: GateState, now: float) -> None:
        """The ledger holds our proposal: take its state over, plus what has happened since."""
        self._copy.accept()
        self._permits.accept()
        self.usage.exchanged(now)
        self.urgent = False
        self._send_slots.accept()
        if self._allowance is not None and state.budget is not None:
            self._allowance.accepted(state.budget, now)
        self._take_over(state, now)

    def seen(self, state: GateState, now: float) -> None:
        self._copy.reject()
        self._permits.reject()
        if self._allowance is not None and state.budget is not None:
            self._allowance.seen(state.budget)
        self._take_over(state, now)

    def lost(self, now: float) -> None:
        """The ledger does not answer: continue at a lower rate."""
        self._share.lose(now)
        self.usage.exchanged_at = now
        if self._allowance is not None:
            self._allowance.lost(now, len(self._share.members))

    def _take_over(self, state: GateState, now: float) -> None:
        is_news = self._copy.take_over(state.pace, now)
        if is_news or self._copy.is_unsafe(state.pace):
            self._send_slots.clear()
        share = self._share
        share.take_over(state, self._own_member(state.members, now), now)
        share.set_limits(self._copy.whole_rate(now, share.override), self._copy.pace.cap)
        self._next_at = min(self._next_at, now + 1 / self.rate(now))
