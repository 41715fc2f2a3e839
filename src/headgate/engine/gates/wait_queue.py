"""Requests that wait for the same gates: owners take turns, then their jobs, then first come.

Also counts the lanes that wait.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable

from headgate.core.fair_turns import Contender, Turns
from headgate.engine.gates.gate import LocalGate
from headgate.engine.gates.path import GatePath, GrantedPermit
from headgate.ports.gate import Cost, Route, Turn


class Waiter:
    __slots__ = ("cost", "patience_s", "since_s", "turn", "woken")

    def __init__(self, turn: Turn, cost: Cost, since_s: float, patience_s: float) -> None:
        self.turn = turn
        self.cost = cost
        self.since_s = since_s
        self.patience_s = patience_s
        self.woken: asyncio.Future[GrantedPermit] = asyncio.get_running_loop().create_future()


class WaitQueue:
    def __init__(self, gate_paths: Iterable[GatePath], route: Route) -> None:
        self.gate_paths = tuple(gate_paths)
        self.host = route.host
        self.transfer = route.transfer
        self.gates: frozenset[LocalGate] = frozenset(
            gate for gate_path in self.gate_paths for gate in gate_path.gates
        )
        self.cause = ""
        """The reason that the head waits."""
        self.cancel_timer: Callable[[], object] | None = None
        self.due_s = 0.0
        """When the timer was due."""
        self._turns = Turns()
        self._by_job: dict[Contender, deque[Waiter]] = {}
        self._head: Waiter | None = None

    def __len__(self) -> int:
        return sum(map(len, self._by_job.values())) + (self._head is not None)

    def best_path(self, now_s: float, cost: Cost) -> tuple[float, LocalGate, GatePath]:
        """When it opens, its last gate, and the path: the first to open, then the least in flight.

        A path with a benched credential is taken only as the last choice.
        """
        if len(self.gate_paths) == 1:
            return *self.gate_paths[0].opens_at(now_s, cost), self.gate_paths[0]
        opening = [gate_path.opens_at(now_s, cost) for gate_path in self.gate_paths]
        _, opens_at, _, place = min(
            (bool(gate_path.learner.benched), opening[place][0], gate_path.learner.in_flight, place)
            for place, gate_path in enumerate(self.gate_paths)
        )
        return opens_at, opening[place][1], self.gate_paths[place]

    def add(self, waiter: Waiter) -> None:
        contender = Contender(waiter.turn.job_id, waiter.turn.owner)
        self._by_job.setdefault(contender, deque()).append(waiter)

    def head(self) -> Waiter | None:
        """The request whose turn it is; it stays the head until it leaves."""
        while self._head is None or self._head.woken.done():
            contender = self._turns.next(self._by_job)
            if contender is None:
                self._head = None
                return None
            waiting = self._by_job[contender]
            self._head = waiting.popleft()
            if not waiting:
                del self._by_job[contender]
        return self._head

    def shift(self) -> None:
        self._head = None

    def drop(self, waiter: Waiter) -> None:
        if waiter is self._head:
            self._head = None
            return
        contender = Contender(waiter.turn.job_id, waiter.turn.owner)
        waiting = self._by_job.get(contender)
        if waiting is not None and waiter in waiting:
            waiting.remove(waiter)
            if not waiting:
                del self._by_job[contender]

    def of_job(self, job_id: int) -> list[Waiter]:
        waiting = [each for line in self._by_job.values() for each in line]
        if self._head is not None:
            waiting.append(self._head)
        return [each for each in waiting if each.turn.job_id == job_id]

    def jobs(self) -> set[int]:
        found = {contender.job_id for contender in self._by_job}
        return found | ({self._head.turn.job_id} if self._head else set())


class WaitingLanes:
    def __init__(self) -> None:
        self.total = 0
        self.by_job: Counter[int] = Counter()
        self.on_change: Callable[[], None] = lambda: None
        self.room_for_job: int | None = None
        """Lanes of one job that may wait; beyond that the job gets no more items."""

    def enter(self, job_id: int) -> None:
        self.total += 1
        self.by_job[job_id] += 1
        self.on_change()

    def is_full(self, job_id: int) -> bool:
        return self.room_for_job is not None and self.by_job[job_id] >= self.room_for_job

    def leave(self, job_id: int) -> None:
        self.total -= 1
        self.by_job[job_id] -= 1
        if not self.by_job[job_id]:
            del self.by_job[job_id]
        self.on_change()
