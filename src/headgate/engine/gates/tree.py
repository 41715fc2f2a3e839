"""All gates of a process: global, provider, credential, domain, host; passed all or none."""

from collections.abc import Callable, Iterator, Sequence
from math import ceil, inf, isinf

from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.gates.keys import GLOBAL
from headgate.core.pacing.state import Cause
from headgate.engine.gates.gate import LocalGate
from headgate.engine.gates.hosts import HostRecords
from headgate.engine.gates.path import Departure, GatePath, GrantedPermit
from headgate.engine.gates.sync import LedgerTime
from headgate.engine.gates.wait_queue import Waiter, WaitingLanes, WaitQueue
from headgate.ports.clock import Clock
from headgate.ports.gate import Cost, Route, Turn

PathsTo = Callable[[Route], list[GatePath]]


class GateClosed(AttemptOver):
    """A gate does not open soon enough; the item goes back and waits without a lane."""

    LOOK_AGAIN_S = 1.0
    """Seconds until the next try at a gate whose opening time is not known."""

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
    """Sends requests through gates; one that may pass at once does not wait for the loop."""

    MOST = 20_000
    """Wait queues that are kept; enough for all hosts in use at a time."""

    LATE_S = 0.003
    """A request that is at most these seconds late counts as sent in time."""
    ROOM_S = 5.0
    """Items are leased for what the gates let through in these seconds, and not for more."""
    SHUT_S = 1.0
    """Items of a gate that opens within these seconds are still claimed."""

    def __init__(self, paths_to: PathsTo, time: LedgerTime, clock: Clock) -> None:
        self._paths_to = paths_to
        self._time = time
        self._clock = clock
        self._wait_queues: dict[Route, WaitQueue] = {}
        self._of_provider: dict[str, list[WaitQueue]] = {}
        self._of_host: dict[str, list[WaitQueue]] = {}
        self._shut: set[WaitQueue] = set()
        """Queues that were found shut or have waiters: checked at each claim."""
        self.waiting_lanes = WaitingLanes()
        self.hosts = HostRecords(self._learners_of, time)
        self.on_impatience: Callable[[], None] = lambda: None
        """Called when a request has to wait, or a gate has closed: the ledger may have newer state.
        """
        self.on_spent: Callable[[int, GateClosed], None] = lambda _job_id, _closed: None
        """Called when a job needs more than a spent hard cap leaves."""

    async def enter(self, route: Route, turn: Turn, cost: Cost, patience_s: float) -> GrantedPermit:
        """Wait until all gates of the route let it pass; GateClosed beyond `patience_s`."""
        wait_queue = self._wait_queue(route)
        now_s = self._time.now()
        if self.hosts.held:
            self.hosts.lets_out(route.host, turn.job_id)
        if not len(wait_queue):
            opens_at, gate, gate_path = wait_queue.best_path(now_s, cost)
            if opens_at <= now_s:
                return self._send(wait_queue, gate_path, cost, now_s, 0.0)
            if patience_s < opens_at - now_s < inf:
                self._shut.add(wait_queue)
                raise self._closed(gate, turn, cost, now_s)
        return await self._wait_in(wait_queue, Waiter(turn, cost, now_s, patience_s))

    @staticmethod
    def _comes_too_late(waiter: Waiter, opens_at: float) -> bool:
        return waiter.since_s + waiter.patience_s < opens_at < inf

    def room(self, job_id: int, provider: str) -> int | None:
        """Items of a job that may still be leased; None if no gate of it is known."""
        if self.waiting_lanes.is_full(job_id):
            return 0
        wait_queues = self._of_provider.get(provider)
        if not wait_queues:
            return None
        return self._room_at(wait_queues, self._time.now())

    def make_room(self, job_id: int) -> None:
        """If too many lanes of a job wait, hand back the items that wait at shut gates."""
        if not self.waiting_lanes.is_full(job_id):
            return
        now_s = self._time.now()
        for wait_queue in tuple(self._shut):
            if not any(self._is_open(gate_path, now_s) for gate_path in wait_queue.gate_paths):
                for waiter in wait_queue.of_job(job_id):
                    self._send_away(wait_queue, waiter)

    def _room_at(self, wait_queues: Sequence[WaitQueue], now_s: float) -> int:
        """Requests that open gates let through in `ROOM_S`, minus those in the queues."""
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
        """The names of hosts and providers whose items should stay in the store."""
        now_s = self._time.now()
        names = {host for host in self.hosts.down if self.hosts.is_shut(host, self.SHUT_S)}
        for wait_queue in tuple(self._shut):
            if self._room_at((wait_queue,), now_s) <= 0:
                names |= {
                    self._name(wait_queue, gate_path, now_s) for gate_path in wait_queue.gate_paths
                }
            elif not len(wait_queue):  # it may still close while requests wait
                self._shut.discard(wait_queue)
        return frozenset(names)

    def _name(self, wait_queue: WaitQueue, gate_path: GatePath, now_s: float) -> str:
        """Whose items to leave in the store: the learner's, or the host's if only that is shut."""
        if self._is_open(gate_path, now_s) or self._is_shut(gate_path.learner, now_s):
            return gate_path.learner.name
        return wait_queue.host

    def _learners_of(self, host: str) -> Iterator[LocalGate]:
        for wait_queue in self._of_host.get(host, ()):
            yield from (gate_path.learner for gate_path in wait_queue.gate_paths)

    def wake(self, *gates: LocalGate) -> None:
        """Send the waiting requests that may go now that these gates have changed."""
        waiting = [gate.wait_queues for gate in gates if gate.wait_queues]
        # Nearly always the same queues wait at all of these gates, or none does.
        for wait_queue in frozenset().union(*waiting) if waiting else ():
            self._pump(wait_queue)

    async def _wait_in(self, wait_queue: WaitQueue, waiter: Waiter) -> GrantedPermit:
        is_first = not len(wait_queue)
        wait_queue.add(waiter)
        if is_first:  # otherwise the head of the queue waits already
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
            _, gate, gate_path = wait_queue.best_path(now_s, waiter.cost)
            # A closed gate is a known wait, whatever else the request would wait for.
            if not self._is_open(gate_path, now_s):
                gate = max(gate_path.gates, key=lambda gate: gate.closed_until(now_s))
            waiter.woken.set_exception(self._closed(gate, waiter.turn, waiter.cost, now_s))

    def _withdraw(self, wait_queue: WaitQueue, waiter: Waiter) -> None:
        wait_queue.drop(waiter)
        done = waiter.woken.done() and not waiter.woken.cancelled()
        if done and waiter.woken.exception() is None:
            # Sent and cancelled at the same moment: the permit will not be used.
            waiter.woken.result().withdraw()
        self._pump(wait_queue)

    def _closed(self, gate: LocalGate, turn: Turn, cost: Cost, now_s: float) -> GateClosed:
        opens_at = gate.opens_at(now_s, cost)
        # A pause ends when an operator ends it; its items must not sleep longer.
        known = not isinf(opens_at) and gate.limiter.why(now_s) is not Cause.PAUSED
        wait_s = max(opens_at - now_s, 0.0) if known else None
        closed = GateClosed(gate, gate.why(now_s), wait_s)
        if gate.spent_until(now_s) > now_s:
            self.on_spent(turn.job_id, closed)
        return closed

    def _pump(self, wait_queue: WaitQueue) -> None:
        """Send the requests that may go, and set a timer for the next."""
        if wait_queue.cancel_timer is not None:
            wait_queue.cancel_timer()
            wait_queue.cancel_timer = None
        now_s = self._time.now()
        while (head := wait_queue.head()) is not None:
            opens_at, gate, gate_path = wait_queue.best_path(now_s, head.cost)
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
            at_s = self._due_time(wait_queue, now_s)
            passed = self._send(wait_queue, gate_path, head.cost, at_s, now_s - head.since_s)
            head.woken.set_result(passed)
        for gate in wait_queue.gates:
            gate.wait_queues.discard(wait_queue)

    def _due_time(self, wait_queue: WaitQueue, now_s: float) -> float:
        """The time at which a request that is sent now was due.

        A loop wakes a little late each time. If the limits counted from the real time, that would
        add up: at 100 requests a second a tenth of the allowed rate would be lost.
        """
        due_s, wait_queue.due_s = wait_queue.due_s, 0.0
        return due_s if 0.0 <= now_s - due_s < self.LATE_S else now_s

    def _send(
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
