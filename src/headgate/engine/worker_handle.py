"""A worker process as its supervisor sees it."""

from collections.abc import Mapping, Sequence
from random import Random

import msgspec

from headgate.core.fault import Fault, FaultClass
from headgate.core.item import ClaimedItem
from headgate.core.retry import CRASHED, RetryPolicy, after_crash, decide
from headgate.core.settlement import Settlement, hand_back, settle
from headgate.core.status import ItemStatus
from headgate.core.worker import crash_text
from headgate.engine.board import FlightBoard, RunningHandler
from headgate.engine.policy import WorkerPolicy
from headgate.engine.process import cause_of_exit
from headgate.ports.launcher import WorkerOrder, WorkerProcess

MICROSECONDS = 1_000_000


class WorkerHandle:
    """One child: its order, its process, its board, and the reason of its end."""

    def __init__(self, order: WorkerOrder, process: WorkerProcess, board: FlightBoard) -> None:
        self.order = order
        self.process = process
        self.board = board
        self.ready = False
        self.stuck = False
        self.stopping = False
        self.error: str | None = None
        self.error_kind: str | None = None
        self.warnings: list[str] = []
        self.crashed = False
        """The process ended itself because of what a handler did to it."""
        self.memory_mb = 0.0
        self._late: frozenset[RunningHandler] = frozenset()
        self._at_fault: frozenset[int] | None = None
        self._cause: str | None = None

    @property
    def errors_slot(self) -> int | None:
        return self.order.errors.slot if self.order.errors else None

    def listen(self) -> None:
        for report in self.process.reports():
            self.ready = self.ready or report.ready
            self.stuck = self.stuck or report.stuck
            self.error = report.error or self.error
            self.error_kind = report.error_kind or self.error_kind
            self._cause = report.crash or self._cause
            if report.warning is not None:
                self.warnings.append(report.warning)
            self.crashed = self.crashed or report.crash is not None

    def stop(self, *, now: bool = False) -> None:
        self.stopping = True
        self.process.stop(now=now)

    def kill_for_time(self, overdue: list[RunningHandler], now_s: float, grace_s: float) -> None:
        """Kill the process because handlers in it cannot be stopped otherwise.

        While its event loop turns, the overdue handlers are at fault. If it is blocked, all of them
        wait for the one that blocks it, and only running each alone will show which.
        """
        blocked_s = now_s - self.board.turned_s()
        # A turning loop would have interrupted them before the grace began.
        if blocked_s > grace_s / 2 and len(self.board.running()) > 1:
            self._cause = f"time limit: the process was blocked for {blocked_s:.1f} s"
        else:
            self._at_fault = frozenset(flight.item_id for flight in overdue)
        self.process.kill()

    def kill_for_memory(self, limit_mb: int) -> None:
        self._cause = f"memory limit: the process grew beyond {limit_mb} MB"
        self.process.kill()

    def kill_as_lost(self) -> None:
        """Kill the process because the store has already given its leases away."""
        self._at_fault = frozenset()
        self.process.kill()

    def overdue(self, now_s: float, grace_s: float) -> list[RunningHandler]:
        """Handlers that are past their limit and grace now, and were at the last call.

        Two calls are needed because the process writes to the board while we read it.
        """
        late = [flight for flight in self.board.running() if flight.is_late(now_s, grace_s)]
        before, self._late = self._late, frozenset(late)
        return [flight for flight in late if flight in before]

    def memory_limit_mb(self, policy: WorkerPolicy) -> int:
        """The configured limit; in a process for one suspect, its handler may declare another."""
        if not self.order.alone:
            return policy.memory_mb
        return self.board.tally().memory_mb or policy.alone_memory_mb

    def cause_of_end(self, code: int) -> str:
        return self._cause or cause_of_exit(code)

    def settle_running(
        self,
        code: int,
        held: dict[int, ClaimedItem],
        policy: RetryPolicy,
        rng: Random,
        now_s: float,
    ) -> list[Settlement]:
        """Settlements of the items whose handlers were running when the process ended."""
        settlements = []
        for flight in self.board.running():
            item = held.get(flight.item_id)
            if item is not None and item.epoch == flight.epoch:
                settlement = self._settlement(code, item, flight, policy, rng)
                settlements.append(with_times(settlement, flight, now_s))
        return settlements

    def _settlement(
        self,
        code: int,
        item: ClaimedItem,
        flight: RunningHandler,
        policy: RetryPolicy,
        rng: Random,
    ) -> Settlement:
        if self._at_fault is None:
            return settle(item, after_crash(item, self.cause_of_end(code), policy))
        if item.id not in self._at_fault:
            return hand_back(item, "its process was ended because of another item")
        fault = Fault(FaultClass.TIMEOUT, f"ran longer than {flight.limit_s:g} s and was killed")
        settlement = settle(item, decide(item, fault, policy, 0, rng))
        again = settlement.status is ItemStatus.PENDING
        return msgspec.structs.replace(settlement, suspect=again)


def crash_texts(
    settlements: Sequence[Settlement], held: Mapping[int, ClaimedItem], cause: str
) -> list[tuple[int, str]]:
    """A job and a text for each job that had rows in a process that crashed."""
    crashed = [each for each in settlements if each.outcome == CRASHED]
    texts = []
    for job_id in sorted({each.job_id for each in crashed}):
        ended, alone = (
            [
                held[each.item_id].key
                for each in crashed
                if each.job_id == job_id and (each.status is ItemStatus.ERROR) is at_fault
            ]
            for at_fault in (True, False)
        )
        texts.append((job_id, crash_text(cause, alone, ended)))
    return texts


def with_times(settlement: Settlement, flight: RunningHandler, now_s: float) -> Settlement:
    """The settlement with the time that the item waited for a lane and that its handler ran."""
    waited_us, ran_us = (
        round(max(seconds, 0.0) * MICROSECONDS)
        for seconds in (flight.queued_s, now_s - flight.started_s)
    )
    return msgspec.structs.replace(settlement, waited_us=waited_us, ran_us=ran_us)
