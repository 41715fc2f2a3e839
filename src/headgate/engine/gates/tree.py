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

PathsTo = Callable[[Route], list[GatePath]]


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

    def __init__(self, paths_to: PathsTo, time: LedgerTime, clock: Clock) -> None:
        self._paths_to = paths_to
        self._time = time
        self._clock = clock
        self._wait_queues: dict[Route, WaitQueue] = {}
        self._of_provider: dict[str, list[WaitQueue]] = {}
        self._of_host: dict[str, list[WaitQueue]] = {}
        self._shut: set[WaitQueue] = set()
        """Those that were found shut, or where somebody stands: looked at whenever one asks."""
        self.waiting_lanes = WaitingLanes()
        self.hosts = HostRecords(self._learners_of, time)
        self.on_impatience: Callable[[], None] = lambda: None
        """Called when somebody has to wait, or a gate has closed: the ledger may know more."""
        self.on_spent: Callable[[int, GateClosed], None] = lambda _job_id, _closed: None
        """Called when a job needs what a spent hard cap does not give it."""

    async def enter(self, route: Route, turn: Turn, cost: Cost, patience_s: float) -> GrantedPermit:
        """Wait until all gates of the route let it pass; GateClosed beyond `patience_s`."""
        wait_queue = self._wait_queue(route)
        now_s = self._time.now()
        if self.hosts.held:
            self.hosts.lets_out(route.host, turn.job_id)
        if not len(wait_queue):
            opens_at, gate, gate_path = wait_queue.best_way(now_s, cost)
            if opens_at <= now_s:
                return self._let_out(wait_queue, gate_path, cost, now_s, 0.0)
            if patience_s < opens_at - now_s < inf:
                self._shut.add(wait_queue)
                raise self._closed(gate, turn, cost, now_s)
        return await self._stand_in(wait_queue, Waiter(turn, cost, now_s, patience_s))

    @staticmethod
    def _comes_too_late(waiter: Waiter, opens_at: float) -> bool:
        return waiter.since_s + waiter.patience_s < opens_at < inf

    def room(self, job_id: int, provider: str) -> int | None:
        """How many more items of a job may be leased; None: no gate of it is known."""
        if self.waiting_lanes.is_full(job_id):
            return 0
        wait_queues = self._of_provider.get(provider)
        if not wait_queues:
            return None
        return self._room_at(wait_queues, self._time.now())

    def make_room(self, job_id: int) -> None:
        """Send a job's items back from where it is shut, if so many wait that no others come."""
        if not self.waiting_lanes.is_full(job_id):
            return
        now_s = self._time.now()
        for wait_queue in tuple(self._shut):
            if not any(self._is_open(gate_path, now_s) for gate_path in wait_queue.gate_paths):
                for waiter in wait_queue.of_job(job_id):
                    self._send_away(wait_queue, waiter)

    def _room_at(self, wait_queues: Sequence[WaitQueue], now_s: float) -> int:
        """What open gates let through in a while, less those who stand there already."""
        gate_paths = [
            gate_path
            for wait_queue in wait_queues
            for gate_path in wait_queue.gate_paths
            if self._is_open(gate_path, now_s)
        ]
        rates = {
            gate_path.learner: gate_path.learner.limiter.rate(now_s) for gate_path in gate_paths
        }
        allowed = min(sum(rates.values()) * self.ROOM_S, self.MOST)
        return ceil(allowed) - sum(map(len, wait_queues))

    def _is_open(self, gate_path: GatePath, now_s: float) -> bool:
        return not any(self._is_shut(gate, now_s) for gate in gate_path.gates)

    def _is_shut(self, gate: LocalGate, now_s: float) -> bool:
        return gate.closed_until(now_s) - now_s >= self.SHUT_S

    def shut(self) -> frozenset[str]:
        """The names of hosts and providers whose items are best left where they are."""
        now_s = self._time.now()
        names = {host for host in self.hosts.down if self.hosts.is_shut(host, self.SHUT_S)}
        for wait_queue in tuple(self._shut):
            if self._room_at((wait_queue,), now_s) <= 0:
                names |= {
                    self._name(wait_queue, gate_path, now_s) for gate_path in wait_queue.gate_paths
                }
            elif not len(wait_queue):  # it may yet close on those who stand there
                self._shut.discard(wait_queue)
        return frozenset(names)

    def _name(self, wait_queue: WaitQueue, gate_path: GatePath, now_s: float) -> str:
        """Whose items to leave alone: all of the learner's, or this host's if only that is shut."""
        if self._is_open(gate_path, now_s) or self._is_shut(gate_path.learner, now_s):
            return gate_path.learner.name
        return wait_queue.host

    def _learners_of(self, host: str) -> Iterator[LocalGate]:
        """The gates that learn from the answers of a host."""
        for wait_queue in self._of_host.get(host, ()):
            yield from (gate_path.learner for gate_path in wait_queue.gate_paths)

    def wake(self, *gates: LocalGate) -> None:
        """Something has changed at these gates: let those go who may."""
        waiting = [gate.wait_queues for gate in gates if gate.wait_queues]
        # Nearly always the same ones stand before all of them, or nobody does.
        for wait_queue in frozenset().union(*waiting) if waiting else ():
            self._pump(wait_queue)

    async def _stand_in(self, wait_queue: WaitQueue, waiter: Waiter) -> GrantedPermit:
        is_first = not len(wait_queue)
        wait_queue.add(waiter)
        if is_first:  # for others, whoever stands in front waits already
            self._shut.add(wait_queue)
            for gate in wait_queue.gates:
                gate.wait_queues.add(wait_queue)
            self._pump(wait_queue)
        cancel = self._clock.later(waiter.patience_s, lambda: self._send_away(wait_queue, waiter))
        self.waiting_lanes.enter(waiter.turn.job_id)
        waiter.turn.waits.begin()
        try:
            return await waiter.woken
        except BaseException:
            self._withdraw(wait_queue, waiter)
            raise
        finally:
            cancel()
            self.waiting_lanes.leave(waiter.turn.job_id)
            waiter.turn.waits.end()

    def _send_away(self, wait_queue: WaitQueue, waiter: Waiter) -> None:
        if not waiter.woken.done():
            now_s = self._time.now()
            _, gate, gate_path = wait_queue.best_way(now_s, waiter.cost)
            if not self._is_open(
                gate_path, now_s
            ):  # that is known, whatever else it would wait for
                gate = max(gate_path.gates, key=lambda gate: gate.closed_until(now_s))
            waiter.woken.set_exception(self._closed(gate, waiter.turn, waiter.cost, now_s))

    def _withdraw(self, wait_queue: WaitQueue, waiter: Waiter) -> None:
        wait_queue.drop(waiter)
        done = waiter.woken.done() and not waiter.woken.cancelled()
        if done and waiter.woken.exception() is None:
            # Let out and cancelled at the same moment: nobody will use it.
            waiter.woken.result().withdraw()
        self._pump(wait_queue)

    def _closed(self, gate: LocalGate, turn: Turn, cost: Cost, now_s: float) -> GateClosed:
        opens_at = gate.opens_at(now_s, cost)
        # A pause ends when whoever asked for it says so; its items must not sleep longer.
        known = not isinf(opens_at) and gate.limiter.why(now_s) is not Cause.PAUSED
        wait_s = max(opens_at - now_s, 0.0) if known else None
        closed = GateClosed(gate, gate.why(now_s), wait_s)
        if gate.spent_until(now_s) > now_s:
            self.on_spent(turn.job_id, closed)
        return closed

    def _pump(self, wait_queue: WaitQueue) -> None:
        """Let out whoever may go, and set the time for the next."""
        if wait_queue.cancel_timer is not None:
            wait_queue.cancel_timer()
            wait_queue.cancel_timer = None
        now_s = self._time.now()
        while (head := wait_queue.head()) is not None:
            opens_at, gate, gate_path = wait_queue.best_way(now_s, head.cost)
            if opens_at > now_s:
                if self._comes_too_late(head, opens_at):
                    wait_queue.shift()
                    head.woken.set_exception(self._closed(gate, head.turn, head.cost, now_s))
                    continue
                wait_queue.cause = gate.why(now_s)
                self.on_impatience()
                if not isinf(opens_at):
                    wait_queue.due_s = opens_at
                    wait_queue.cancel_timer = self._clock.later(
                        opens_at - now_s, lambda: self._pump(wait_queue)
                    )
                return
            wait_queue.shift()
            at_s = self._meant(wait_queue, now_s)
            passed = self._let_out(wait_queue, gate_path, head.cost, at_s, now_s - head.since_s)
            head.woken.set_result(passed)
        for gate in wait_queue.gates:
            gate.wait_queues.discard(wait_queue)

    def _meant(self, wait_queue: WaitQueue, now_s: float) -> float:
        """When a request was to go out that goes now.

        A loop wakes a little late each time. If the limits counted from there, that would add up:
        at 100 a second a tenth of what is allowed would be lost.
        """
        due_s, wait_queue.due_s = wait_queue.due_s, 0.0
        return due_s if 0.0 <= now_s - due_s < self.LATE_S else now_s

    def _let_out(
        self, wait_queue: WaitQueue, gate_path: GatePath, cost: Cost, now_s: float, waited_s: float
    ) -> GrantedPermit:
        in_flight = gate_path.pass_all(now_s, transfer=wait_queue.transfer)
        budget = gate_path.learner.budget
        reserved = cost if budget is None else budget.take(cost)
        cause = wait_queue.cause if waited_s else ""
        departure = Departure(now_s, in_flight, waited_s, cause, reserved, wait_queue.transfer)
        return GrantedPermit(wait_queue.gate_paths, gate_path, departure, self._time.now, self.wake)

    def _wait_queue(self, route: Route) -> WaitQueue:
        found = self._wait_queues.get(route)
        if found is None:
            if len(self._wait_queues) >= self.MOST:
                self._wait_queues = {
                    key: line for key, line in self._wait_queues.items() if len(line)
                }
                self._of_host = {}
                for line in self._wait_queues.values():
                    self._of_host.setdefault(line.host, []).append(line)
            found = self._wait_queues[route] = WaitQueue(self._paths_to(route), route)
            self._of_host.setdefault(route.host, []).append(found)
            if route.provider:
                self._of_provider.setdefault(route.provider, []).append(found)
        return found
