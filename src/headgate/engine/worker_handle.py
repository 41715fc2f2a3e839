"""A worker process in the eyes of its supervisor."""

from random import Random

import msgspec

from headgate.core.fault import Fault, FaultClass
from headgate.core.item import ClaimedItem
from headgate.core.retry import RetryPolicy, after_crash, decide
from headgate.core.settlement import Settlement, hand_back, settle
from headgate.core.status import ItemStatus
from headgate.engine.board import FlightBoard, RunningHandler
from headgate.engine.process import cause_of_exit
from headgate.ports.launcher import WorkerOrder, WorkerProcess

MICROSECONDS = 1_000_000


class WorkerHandle:
    """One child: its orders, its process, its board, and why it had to be ended."""

    def __init__(self, order: WorkerOrder, process: WorkerProcess, board: FlightBoard) -> None:
        self.order = order
        self.process = process
        self.board = board
        self.ready = False
        self.stuck = False
        self.told_to_stop = False
        self.error: str | None = None
        self.error_kind: str | None = None
        self.warnings: list[str] = []
        self.crashed = False
        """A handler did something to the process, so that it ended itself."""
        self.memory_mb = 0.0
        self._late: frozenset[RunningHandler] = frozenset()
        self._guilty: frozenset[int] | None = None
        self._cause: str | None = None

    def listen(self) -> None:
        """Take in what the process has said."""
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
        """Ask the process to end."""
        self.told_to_stop = True
        self.process.stop(now=now)

    def kill_for_time(self, overdue: list[RunningHandler], now_s: float, grace_s: float) -> None:
        """End the process because handlers in it cannot be stopped otherwise.

        While its event loop turns, those that are overdue are the guilty ones. If it is blocked,
        all of them wait for the one that blocks it, and only being run alone will tell which.
        """
        blocked_s = now_s - self.board.turned_s()
        # A loop that turns would have cut them short before the grace had even begun.
        if blocked_s > grace_s / 2 and len(self.board.running()) > 1:
            self._cause = f"time limit: the process was blocked for {blocked_s:.1f} s"
        else:
            self._guilty = frozenset(flight.item_id for flight in overdue)
        self.process.kill()

    def kill_for_memory(self, limit_mb: int) -> None:
        """End the process because it grew too large."""
        self._cause = f"memory limit: the process grew beyond {limit_mb} MB"
        self.process.kill()

    def kill_as_lost(self) -> None:
        """End the process because the store has already given its leases away."""
        self._guilty = frozenset()
        self.process.kill()

    def overdue(self, now_s: float, grace_s: float) -> list[RunningHandler]:
        """Handlers that are past their limit and the grace after it, and were so when last asked.

        Asked twice, because the process writes to the board while we read it.
        """
        late = [flight for flight in self.board.running() if flight.is_late(now_s, grace_s)]
        before, self._late = self._late, frozenset(late)
        return [flight for flight in late if flight in before]

    def cause_of_end(self, code: int) -> str:
        """Why the process ended, in words."""
        return self._cause or cause_of_exit(code)

    def last_words(
        self,
        code: int,
        held: dict[int, ClaimedItem],
        policy: RetryPolicy,
        rng: Random,
        now_s: float,
    ) -> list[Settlement]:
        """What follows for the items whose handlers were running when the process ended."""
        settlements = []
        for flight in self.board.running():
            item = held.get(flight.item_id)
            if item is not None and item.epoch == flight.epoch:
                settlement = self._verdict(code, item, flight, policy, rng)
                settlements.append(timed(settlement, flight, now_s))
        return settlements

    def _verdict(
        self,
        code: int,
        item: ClaimedItem,
        flight: RunningHandler,
        policy: RetryPolicy,
        rng: Random,
    ) -> Settlement:
        if self._guilty is None:
            return settle(item, after_crash(item, self.cause_of_end(code), policy))
        if item.id not in self._guilty:
            return hand_back(item, "its process was ended for another item's sake")
        fault = Fault(FaultClass.TIMEOUT, f"ran longer than {flight.limit_s:g} s and was killed")
        settlement = settle(item, decide(item, fault, policy, 0, rng))
        again = settlement.status is ItemStatus.PENDING
        return msgspec.structs.replace(settlement, suspect=again)


def timed(settlement: Settlement, flight: RunningHandler, now_s: float) -> Settlement:
    """The same, with how long the item waited for a lane and how long its handler ran."""
    waited_us, ran_us = (
        round(max(seconds, 0.0) * MICROSECONDS)
        for seconds in (flight.queued_s, now_s - flight.started_s)
    )
    return msgspec.structs.replace(settlement, waited_us=waited_us, ran_us=ran_us)
