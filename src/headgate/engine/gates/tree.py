"""All gates of a process: global, provider, credential, domain, host; passed all or none."""

from collections.abc import Callable, Iterator, Sequence
from math import ceil, inf, isinf

from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.gates.keys import GLOBAL
from headgate.core.pacing.state import Cause
from headgate.engine.gates.gate import LocalGate
from headgate.engine.gates.hosts import HostRecords
from headgate.engine.gates.path import GatePath
from headgate.engine.gates.permit import Departure, GrantedPermit
from headgate.engine.gates.sync import LedgerTime
from headgate.engine.gates.wait_queue import Waiter, WaitingLanes, WaitQueue
from headgate.ports.clock import Clock
from headgate.ports.gate import Cost, Route, Turn

WaysTo = Callable[[Route], list[GatePath]]


class GateClosed(AttemptOver):
    """A gate will not open soon enough; the item goes back and waits without a lane."""

    LOOK_AGAIN_S = 1.0
    """When to come back to a gate of which nobody knows when it opens."""

    def __init__(self, gate: LocalGate, cause: str, wait_s: float | None) -> None:
        span = "" if wait_s is None else f" for {wait_s:.1f} s"
        subject = "all requests" if gate.key == GLOBAL else f"requests to {gate.name}"
        reason = f"{subject} have to wait{span}: {cause}"
        if wait_s is not None and wait_s < self.LOOK_AGAIN_S:
            reason = f"waited its turn at {gate.name} ({cause.partition(': ')[2]}); put back"
        wait_s = self.LOOK_AGAIN_S if wait_s is None else wait_s
        super().__init__(Fault(FaultClass.THROTTLED, reason, wait_s, gate.name))
        self.reason = reason
        self.wait_s = wait_s


class GateTree:
    """Lets requests out. One that may pass at once does so without a turn of the loop."""

    MOST = 20_000
    """Lineups that are remembered; enough for all hosts that are in use at a time."""

    LATE_S = 0.003
    """A request that is no later than this counts as sent in time."""
    ROOM_S = 5.0
    """Items are leased for what the gates let through in this time, and not for more."""
    SHUT_S = 1.0
    """A gate that opens sooner is no reason to leave its items alone."""

    def __init__(self, ways_to: WaysTo, time: LedgerTime, clock: Clock) -> None:
        self._ways_to = ways_to
        self._time = time
        self._clock = clock
        self._lineups: dict[Route, WaitQueue] = {}
        self._of_provider: dict[str, list[WaitQueue]] = {}
        self._of_host: dict[str, list[WaitQueue]] = {}
        self._shut: set[WaitQueue] = set()
        """Those that were found shut, or where somebody stands: looked at whenever one asks."""
        self.parking = WaitingLanes()
        self.hosts = HostRecords(self._learners_of, time)
        self.on_impatience: Callable[[], None] = lambda: None
        """Called when somebody has to wait, or a gate has closed: the ledger may know more."""
        self.on_spent: Callable[[int, GateClosed], None] = lambda _job_id, _closed: None
        """Called when a job needs what a spent hard cap does not give it."""

    async def enter(self, route: Route, turn: Turn, cost: Cost, patience_s: float) -> GrantedPermit:
        """Wait until all gates of the route let it pass; GateClosed beyond `patience_s`."""
        lineup = self._lineup(route)
        now_s = self._time.now()
        if self.hosts.held:
            self.hosts.lets_out(route.host, turn.job_id)
        if not len(lineup):
            opens_at, gate, way = lineup.best_way(now_s, cost)
            if opens_at <= now_s:
                return self._let_out(lineup, way, cost, now_s, 0.0)
            if patience_s < opens_at - now_s < inf:
                self._shut.add(lineup)
                raise self._closed(gate, turn, cost, now_s)
        return await self._stand_in(lineup, Waiter(turn, cost, now_s, patience_s))

    @staticmethod
    def _comes_too_late(waiter: Waiter, opens_at: float) -> bool:
        return waiter.since_s + waiter.patience_s < opens_at < inf

    def room(self, job_id: int, provider: str) -> int | None:
        """How many more items of a job may be leased; None: no gate of it is known."""
        if self.parking.is_full(job_id):
            return 0
        lineups = self._of_provider.get(provider)
        if not lineups:
            return None
        return self._room_at(lineups, self._time.now())

    def make_room(self, job_id: int) -> None:
        """Send a job's items back from where it is shut, if so many wait that no others come."""
        if not self.parking.is_full(job_id):
            return
        now_s = self._time.now()
        for lineup in tuple(self._shut):
            if not any(self._is_open(way, now_s) for way in lineup.ways):
                for waiter in lineup.of_job(job_id):
                    self._send_away(lineup, waiter)

    def _room_at(self, lineups: Sequence[WaitQueue], now_s: float) -> int:
        """What open gates let through in a while, less those who stand there already."""
        ways = [way for lineup in lineups for way in lineup.ways if self._is_open(way, now_s)]
        rates = {way.learner: way.learner.limiter.rate(now_s) for way in ways}
        allowed = min(sum(rates.values()) * self.ROOM_S, self.MOST)
        return ceil(allowed) - sum(map(len, lineups))

    def _is_open(self, way: GatePath, now_s: float) -> bool:
        return not any(self._is_shut(gate, now_s) for gate in way.gates)

    def _is_shut(self, gate: LocalGate, now_s: float) -> bool:
        return gate.closed_until(now_s) - now_s >= self.SHUT_S

    def shut(self) -> frozenset[str]:
        """The names of hosts and providers whose items are best left where they are."""
        now_s = self._time.now()
        names = {host for host in self.hosts.down if self.hosts.is_shut(host, self.SHUT_S)}
        for lineup in tuple(self._shut):
            if self._room_at((lineup,), now_s) <= 0:
                names |= {self._name(lineup, way, now_s) for way in lineup.ways}
            elif not len(lineup):  # it may yet close on those who stand there
                self._shut.discard(lineup)
        return frozenset(names)

    def _name(self, lineup: WaitQueue, way: GatePath, now_s: float) -> str:
        """Whose items to leave alone: all of the learner's, or this host's if only that is shut."""
        if self._is_open(way, now_s) or self._is_shut(way.learner, now_s):
            return way.learner.name
        return lineup.host

    def _learners_of(self, host: str) -> Iterator[LocalGate]:
        """The gates that learn from the answers of a host."""
        for lineup in self._of_host.get(host, ()):
            yield from (way.learner for way in lineup.ways)

    def wake(self, *gates: LocalGate) -> None:
        """Something has changed at these gates: let those go who may."""
        waiting = [gate.lineups for gate in gates if gate.lineups]
        # Nearly always the same ones stand before all of them, or nobody does.
        for lineup in frozenset().union(*waiting) if waiting else ():
            self._pump(lineup)

    async def _stand_in(self, lineup: WaitQueue, waiter: Waiter) -> GrantedPermit:
        is_first = not len(lineup)
        lineup.add(waiter)
        if is_first:  # for others, whoever stands in front waits already
            self._shut.add(lineup)
            for gate in lineup.gates:
                gate.lineups.add(lineup)
            self._pump(lineup)
        cancel = self._clock.later(waiter.patience_s, lambda: self._send_away(lineup, waiter))
        self.parking.enter(waiter.turn.job_id)
        waiter.turn.waits.begin()
        try:
            return await waiter.woken
        except BaseException:
            self._withdraw(lineup, waiter)
            raise
        finally:
            cancel()
            self.parking.leave(waiter.turn.job_id)
            waiter.turn.waits.end()

    def _send_away(self, lineup: WaitQueue, waiter: Waiter) -> None:
        if not waiter.woken.done():
            now_s = self._time.now()
            _, gate, way = lineup.best_way(now_s, waiter.cost)
            if not self._is_open(way, now_s):  # that is known, whatever else it would wait for
                gate = max(way.gates, key=lambda gate: gate.closed_until(now_s))
            waiter.woken.set_exception(self._closed(gate, waiter.turn, waiter.cost, now_s))

    def _withdraw(self, lineup: WaitQueue, waiter: Waiter) -> None:
        lineup.drop(waiter)
        done = waiter.woken.done() and not waiter.woken.cancelled()
        if done and waiter.woken.exception() is None:
            # Let out and cancelled at the same moment: nobody will use it.
            waiter.woken.result().withdraw()
        self._pump(lineup)

    def _closed(self, gate: LocalGate, turn: Turn, cost: Cost, now_s: float) -> GateClosed:
        opens_at = gate.opens_at(now_s, cost)
        # A pause ends when whoever asked for it says so; its items must not sleep longer.
        known = not isinf(opens_at) and gate.limiter.why(now_s) is not Cause.PAUSED
        wait_s = max(opens_at - now_s, 0.0) if known else None
        closed = GateClosed(gate, gate.why(now_s), wait_s)
        if gate.spent_until(now_s) > now_s:
            self.on_spent(turn.job_id, closed)
        return closed

    def _pump(self, lineup: WaitQueue) -> None:
        """Let out whoever may go, and set the time for the next."""
        if lineup.cancel_timer is not None:
            lineup.cancel_timer()
            lineup.cancel_timer = None
        now_s = self._time.now()
        while (head := lineup.head()) is not None:
            opens_at, gate, way = lineup.best_way(now_s, head.cost)
            if opens_at > now_s:
                if self._comes_too_late(head, opens_at):
                    lineup.shift()
                    head.woken.set_exception(self._closed(gate, head.turn, head.cost, now_s))
                    continue
                lineup.cause = gate.why(now_s)
                self.on_impatience()
                if not isinf(opens_at):
                    lineup.due_s = opens_at
                    lineup.cancel_timer = self._clock.later(
                        opens_at - now_s, lambda: self._pump(lineup)
                    )
                return
            lineup.shift()
            at_s = self._meant(lineup, now_s)
            passed = self._let_out(lineup, way, head.cost, at_s, now_s - head.since_s)
            head.woken.set_result(passed)
        for gate in lineup.gates:
            gate.lineups.discard(lineup)

    def _meant(self, lineup: WaitQueue, now_s: float) -> float:
        """When a request was to go out that goes now.

        A loop wakes a little late each time. If the limits counted from there, that would add up:
        at 100 a second a tenth of what is allowed would be lost.
        """
        due_s, lineup.due_s = lineup.due_s, 0.0
        return due_s if 0.0 <= now_s - due_s < self.LATE_S else now_s

    def _let_out(
        self, lineup: WaitQueue, way: GatePath, cost: Cost, now_s: float, waited_s: float
    ) -> GrantedPermit:
        in_flight = way.pass_all(now_s, transfer=lineup.transfer)
        budget = way.learner.budget
        reserved = cost if budget is None else budget.take(cost)
        cause = lineup.cause if waited_s else ""
        departure = Departure(now_s, in_flight, waited_s, cause, reserved, lineup.transfer)
        return GrantedPermit(lineup.ways, way, departure, self._time.now, self.wake)

    def _lineup(self, route: Route) -> WaitQueue:
        found = self._lineups.get(route)
        if found is None:
            if len(self._lineups) >= self.MOST:
                self._lineups = {key: line for key, line in self._lineups.items() if len(line)}
                self._of_host = {}
                for line in self._lineups.values():
                    self._of_host.setdefault(line.host, []).append(line)
            found = self._lineups[route] = WaitQueue(self._ways_to(route), route)
            self._of_host.setdefault(route.host, []).append(found)
            if route.provider:
                self._of_provider.setdefault(route.provider, []).append(found)
        return found
