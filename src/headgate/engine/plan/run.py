"""Runs one batch in virtual time: lanes, gates with the real limiters, and an assumed provider."""

import heapq
import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import msgspec

from headgate.core.gates.budget import Budget
from headgate.core.gates.shared_limiter import SharedLimiter
from headgate.core.gates.state import GateState
from headgate.core.pacing.pace import Pace
from headgate.core.pacing.state import Cause
from headgate.engine.gates.gate import Limiter
from headgate.engine.plan.assumed import AssumedProvider, AssumedReply
from headgate.engine.plan.workload import Workload


class VirtualSend:
    def __init__(self, limiter: Limiter, credential: int, budget: Budget | None) -> None:
        self.limiter = limiter
        self.credential = credential
        self.in_flight = 0
        self._budget = budget

    def opens_at(self, now: float, workload: Workload) -> float:
        at = self.limiter.gate(now, self.in_flight)
        return at if self._budget is None else max(at, self._budget.opens_at(now, workload.cost))

    def pass_one(self, now: float, workload: Workload) -> None:
        self.in_flight += 1
        self.limiter.on_send(now, self.in_flight)
        if self._budget is not None:
            self._budget.add(now, workload.cost)

    def why(self, now: float, workload: Workload) -> Cause:
        if self._budget is not None and self._budget.opens_at(now, workload.cost) > now:
            return Cause.BUDGET
        return self.limiter.why(now)


class VirtualProcess:
    def __init__(self, sends: Sequence[VirtualSend], lanes: int) -> None:
        self.sends = sends
        self.waiting = lanes
        self.wakes_at: float | None = None
        self.cause = Cause.OPEN
        self.since = 0.0

    def best(self, now: float, workload: Workload) -> tuple[float, VirtualSend]:
        """The gate that opens first; of several, the one with the least in flight."""
        if len(self.sends) == 1:
            return self.sends[0].opens_at(now, workload), self.sends[0]
        opening = [
            (send.opens_at(now, workload), send.in_flight, place)
            for place, send in enumerate(self.sends)
        ]
        at, _, place = min(opening)
        return at, self.sends[place]


class VirtualLedger:
    def __init__(self, shares: Sequence[SharedLimiter], state: GateState | None) -> None:
        self._shares = shares
        self._state = state

    def due(self, now: float) -> bool:
        return any(share.due(now) for share in self._shares)

    def exchange(self, now: float) -> None:
        for share in self._shares:
            if not share.due(now):
                continue
            urgent = share.urgent
            self._state = share.merge(self._state, now)
            share.accepted(self._state, now)
            for other in self._shares if urgent else ():
                if other is not share:
                    other.seen(self._state, now)


class VirtualFleet:
    def __init__(self, workload: Workload) -> None:
        self.ledgers: list[VirtualLedger] = []
        columns = [self._column(workload, credential) for credential in range(workload.credentials)]
        lanes = [
            workload.lanes // workload.processes + (number < workload.lanes % workload.processes)
            for number in range(workload.processes)
        ]
        self.processes = [
            VirtualProcess([column[number] for column in columns], lanes[number])
            for number in range(workload.processes)
        ]

    def _column(self, workload: Workload, credential: int) -> list[VirtualSend]:
        """The gate of one credential in all processes."""
        known = workload.remembered[credential : credential + 1]
        spent = next(iter(workload.spent[credential : credential + 1]), None)
        budget = Budget(workload.caps, spent) if workload.caps else None
        limiters: list[Limiter] = []
        if workload.processes == 1:
            pace = (
                Pace.from_state(known[0], workload.ceilings) if known else Pace(workload.ceilings)
            )
            limiters.append(pace)
        else:
            shares = [
                SharedLimiter(f"process {n}", workload.ceilings) for n in range(workload.processes)
            ]
            self.ledgers.append(VirtualLedger(shares, GateState(known[0]) if known else None))
            limiters.extend(shares)
        return [VirtualSend(limiter, credential, budget) for limiter in limiters]


class Effort(msgspec.Struct, frozen=True):
    """Bounds of a simulation. A batch that is done sooner is simulated to its end."""

    requests: int = 1_500
    seconds: float = 45.0
    """The simulation ends when both `requests` and `seconds` are reached."""
    most_requests: int = 3_000
    """The simulation also ends at this number of requests or of events."""
    most_events: int = 40_000


class RunCourse(msgspec.Struct):
    seconds: float = 0.0
    complete: bool = False
    """The batch was simulated to its end."""
    answered: list[float] = []
    refused: list[float] = []
    held: list[tuple[float, float, Cause]] = []
    """Until when, how long, and why the lanes of a process were held back."""


class VirtualRun:
    """Each lane sends a request as soon as it has an answer. A refused request is sent again."""

    WAY_S = 0.01
    """Seconds until a request reaches the provider."""
    REFUSAL_S = 0.04
    """Seconds until a refusal is back."""
    SPREAD = 0.4
    """Standard deviation of the logarithm of the latency."""
    STORE_S = 0.005
    """Seconds that an exchange with the store takes."""
    TICK_S = 0.25

    def __init__(self, workload: Workload, rng: Random, began_s: float, effort: Effort) -> None:
        self._workload = workload
        self._rng = rng
        self._began_s = self._now = began_s
        self._effort = effort
        self._lane_pool = VirtualFleet(workload)
        self._providers = [
            AssumedProvider(workload.assumed, began_s, rng.random())
            for _ in range(workload.credentials)
        ]
        self._to_send = workload.requests
        self._mean_log = math.log(max(workload.latency_s, 1e-6)) - self.SPREAD**2 / 2
        self._events: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._number = 0
        self._exchanging = False
        self.course = RunCourse()

    def run(self) -> RunCourse:
        """Run until the batch is done or the effort is used up."""
        course = self.course
        for process in self._lane_pool.processes:
            process.since = self._now
            self._at(self._now, self._pump, process)
        if self._lane_pool.ledgers:
            self._at(self._now, self._tick)
        while self._events and not self._is_enough():
            self._now, _, action, arguments = heapq.heappop(self._events)
            action(*arguments)
        course.seconds = self._now - self._began_s
        course.complete = len(course.answered) >= self._workload.requests
        return course

    def _is_enough(self) -> bool:
        answered, effort = len(self.course.answered), self._effort
        return (
            answered >= min(self._workload.requests, effort.most_requests)
            or self._number >= effort.most_events
            or (answered >= effort.requests and self._now - self._began_s >= effort.seconds)
        )

    def _at(self, time: float, action: Callable[..., None], *arguments: object) -> None:
        self._number += 1
        heapq.heappush(self._events, (max(time, self._now), self._number, action, arguments))

    # ---- lanes

    def _pump(self, process: VirtualProcess) -> None:
        """Send the requests that may go, and set a timer for the next."""
        now, workload = self._now, self._workload
        while process.waiting and self._to_send:
            opens_at, send = process.best(now, workload)
            if opens_at > now:
                self._hold(process, send.why(now, workload))
                self._wake(process, opens_at)
                self._exchange_soon()
                return
            self._send(process, send)
        self._hold(process, Cause.OPEN)

    def _hold(self, process: VirtualProcess, cause: Cause) -> None:
        """Record what has held the process back since the last call."""
        if self._now > process.since:
            until = self._now - self._began_s
            self.course.held.append((until, self._now - process.since, process.cause))
        process.cause, process.since = cause, self._now

    def _wake(self, process: VirtualProcess, at: float) -> None:
        if math.isinf(at):
            return
        if process.wakes_at is None or at < process.wakes_at - 1e-9:
            process.wakes_at = at
            self._at(at, self._awake, process, at)

    def _awake(self, process: VirtualProcess, at: float) -> None:
        if process.wakes_at == at:
            process.wakes_at = None
            self._pump(process)

    # ---- requests

    def _send(self, process: VirtualProcess, send: VirtualSend) -> None:
        now = self._now
        process.waiting -= 1
        self._to_send -= 1
        send.pass_one(now, self._workload)
        verdict = self._providers[send.credential].judge(now + self.WAY_S)
        takes_s = self.REFUSAL_S
        if verdict.status == 200:
            takes_s = self._rng.lognormvariate(self._mean_log, self.SPREAD)
        sent = (now, send.in_flight)
        self._at(now + takes_s, self._answer, process, send, sent, verdict)

    def _answer(
        self,
        process: VirtualProcess,
        send: VirtualSend,
        sent: tuple[float, int],
        verdict: AssumedReply,
    ) -> None:
        now, (sent_at, in_flight) = self._now, sent
        send.in_flight -= 1
        reading = send.limiter.on_reply(
            now, sent_at, in_flight, verdict.status, verdict.headers, now - sent_at
        )
        if verdict.status == 200:
            self._providers[send.credential].ended()
            self.course.answered.append(now - self._began_s)
            self._ready(process)
        else:
            self.course.refused.append(now - self._began_s)
            self._to_send += 1
            wait_s = reading.retry_in_s
            if wait_s > 0:
                self._at(now + wait_s, self._ready, process)
            else:
                self._ready(process)
        self._exchange_soon()

    def _ready(self, process: VirtualProcess) -> None:
        process.waiting += 1
        self._pump(process)

    # ---- sharing

    def _tick(self) -> None:
        self._exchange_soon()
        self._at(self._now + self.TICK_S, self._tick)

    def _exchange_soon(self) -> None:
        if not self._exchanging and any(each.due(self._now) for each in self._lane_pool.ledgers):
            self._exchanging = True
            self._at(self._now + self.STORE_S, self._exchange)

    def _exchange(self) -> None:
        self._exchanging = False
        for ledger in self._lane_pool.ledgers:
            ledger.exchange(self._now)
        for process in self._lane_pool.processes:
            self._pump(process)
