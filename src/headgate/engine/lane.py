"""A lane of a worker: takes an item, runs it, hands over its settlement."""

import asyncio
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from headgate.core.fault import Fault, FaultClass
from headgate.core.item import ClaimedItem
from headgate.core.settlement import hand_back
from headgate.core.status import ItemStatus
from headgate.engine.board import FlightBoard
from headgate.engine.buffer import Buffer
from headgate.engine.error_count import ErrorCount
from headgate.engine.handler_timer import HandlerTimer
from headgate.engine.job_runtime import JobRuntime, JobRuntimes
from headgate.engine.packs import PackRunner
from headgate.engine.result import traced
from headgate.engine.runner import EndedRun, Runner, with_trace
from headgate.engine.settler import Settler
from headgate.ports.clock import Clock
from headgate.ports.observer import Observer

BUFFER_PATIENCE_S = 60.0
"""Seconds that a leased item may wait for a lane."""
LEASE_MARGIN_S = 10.0
"""Seconds that a lease lasts beyond the wait for a lane and the handler's limit."""
LEASE_SLACK_S = BUFFER_PATIENCE_S + LEASE_MARGIN_S
"""Seconds that an item is leased beyond the limit of its handler."""


class Interruption(StrEnum):
    TIMEOUT = "timeout"
    HAND_BACK = "hand_back"


class LaneDeps(msgspec.Struct, frozen=True):
    buffer: Buffer
    runner: Runner
    packs: PackRunner
    settler: Settler
    runtimes: JobRuntimes
    board: FlightBoard
    observer: Observer
    clock: Clock
    doubt_s: float
    """Seconds that the loop may stand still before our leases may have been given away."""
    longest_wait_s: float
    """Seconds of waits at gates that do not count against the limit of one handler."""
    on_stray_cancel: Callable[[], object]
    """Called when code other than the lane pool cancels a lane."""
    stop: Callable[[], object]
    """Ends the claims of this worker."""
    errors: ErrorCount | None = None
    """Counts failed rows, if there is a limit on them."""
    alone: bool = False
    """If True, each result is committed before the next item begins.

    A row that is run alone must not be blamed for what the next one does to the process.
    """


class OtherLanes(Protocol):
    surplus: bool
    """More lanes are working than needed, so one may end."""

    def may_exit(self, lane: "Lane") -> bool:
        """True if this lane may end; the pool then drops it."""
        ...


class Lane:
    BURST = 64
    """A lane yields after this many items: handlers that never wait would starve the commits."""
    PAUSE_S = 0.01

    def __init__(self, tools: LaneDeps, other_lanes: OtherLanes) -> None:
        self._tools = tools
        self._other_lanes = other_lanes
        self._task: asyncio.Task[object] | None = None
        self._interruption: Interruption | None = None
        self.closed = False
        self.ended = False
        """The lane pool cancels this lane, so the cancellation is not a fault."""
        self.stuck = False
        """A plain function ran past its limit; its thread, the lane's only one, cannot be stopped.
        """
        self.pack: Sequence[ClaimedItem] = ()
        self.timer: HandlerTimer
        self._lease_ends_s = 0.0

    async def run(self) -> None:
        self._task = asyncio.current_task()
        try:
            await self._work()
        except asyncio.CancelledError:
            self._report_stray_cancel()
            raise

    async def _work(self) -> None:
        tools = self._tools
        burst = 0
        while not (self.closed or self.stuck):
            if self._other_lanes.surplus and self._other_lanes.may_exit(self):
                return
            if tools.clock.monotonic() - tools.board.turned_here_s > tools.doubt_s:
                # We were frozen. Control takes the waiting items out before it marks the loop as
                # turning.
                await tools.clock.sleep(self.PAUSE_S)
                continue
            if tools.errors is not None and tools.errors.reached:
                tools.stop()
                await tools.clock.sleep(self.PAUSE_S)  # the lane pool closes this lane
                continue
            taken = tools.buffer.take()
            if taken is None:
                burst = 0
                await tools.buffer.wait_filled()
                continue
            await self._run_one(*taken)
            burst += 1
            if tools.alone:
                await tools.settler.wait_idle()
            elif tools.settler.crowded:
                await tools.settler.wait_room()
            elif burst >= self.BURST:
                burst = 0
                await tools.clock.sleep(0)

    def interrupt(self, why: Interruption) -> None:
        if self.pack and self._task is not None and self._interruption is None:
            self._interruption = why
            self._task.cancel()

    def overdue(self, now_s: float) -> bool:
        return bool(self.pack) and self.timer.is_over(now_s)

    def lease_wanted_s(self, now_s: float) -> float | None:
        """Seconds that the lease must last from now; None if it already lasts long enough.

        The item was leased for the limit of the handler. Time at gates is added to that.
        """
        if not self.pack or not self.timer.waited_s(now_s):
            return None
        left_s = max(self.timer.limit_s - self.timer.ran_s(now_s), 0.0)
        if self._lease_ends_s - now_s >= left_s + LEASE_MARGIN_S:
            return None
        return left_s + LEASE_SLACK_S

    def leased_for(self, seconds: float, now_s: float) -> None:
        self._lease_ends_s = now_s + seconds

    async def _run_one(self, first: ClaimedItem, claimed_s: float) -> None:
        work = self._tools.runtimes.work_of(first.job_id)
        size = work.handler.pack
        if size is None:
            self.pack = (first,)
        else:
            more = 0 if first.suspect else size - 1
            self.pack = (first, *self._tools.buffer.take_like(first, more))
        slots = self._begin(work, claimed_s)
        pack, timer = self.pack, self.timer
        try:
            if size is None:
                ended = await self._tools.runner.run(first, claimed_s, timer)
                all_ended: Sequence[EndedRun] = (ended,)
            else:
                all_ended = await self._tools.packs.run(pack, claimed_s, timer)
            self._clear_interruption()  # it may have been interrupted and ended by itself
        except asyncio.CancelledError as cancelled:
            all_ended = self._cut_short(work, pack, claimed_s)
            if work.handler.is_async and all_ended[0].settlement.error_class:
                trace = traced(cancelled)  # the line that it was waiting at
                all_ended = [with_trace(ended, trace) for ended in all_ended]
        finally:
            self.pack = ()
            timer.stop()
            for slot in slots:
                self._tools.board.end(slot)
        self._settle(work, pack, all_ended)

    def _begin(self, work: JobRuntime, claimed_s: float) -> list[int]:
        """Show on the board what starts now."""
        tools, name, limit_s = self._tools, work.handler.name, work.limit_s
        board, observer = tools.board, tools.observer
        self.timer = timer = HandlerTimer(tools.clock, board, limit_s, tools.longest_wait_s)
        self._lease_ends_s = claimed_s + limit_s + LEASE_SLACK_S
        started_s = timer.started_s
        queued_s = started_s - claimed_s
        slots = []
        for item in self.pack:
            slots.append(board.start(item.id, item.epoch, started_s, limit_s, queued_s))
            observer.started(item, name)
        timer.start(slots)
        return slots

    def _settle(
        self, work: JobRuntime, pack: Sequence[ClaimedItem], all_ended: Sequence[EndedRun]
    ) -> None:
        settler, observer, name = self._tools.settler, self._tools.observer, work.handler.name
        errors = self._tools.errors
        for item, ended in zip(pack, all_ended, strict=True):
            observer.ended(item, name, ended.settlement)
            if errors is not None:
                errors.add(ended.settlement)
            settler.add(ended.settlement, ended.columns, ended.attachment)

    def _cut_short(
        self,
        work: JobRuntime,
        pack: Sequence[ClaimedItem],
        claimed_s: float,
    ) -> list[EndedRun]:
        why = self._clear_interruption()
        if why is None:
            self._report_stray_cancel()  # while the board still shows what was running
            raise asyncio.CancelledError  # the worker itself is being torn down
        if why is Interruption.HAND_BACK:
            return [EndedRun(hand_back(item, "the worker was stopped"), None) for item in pack]
        fault = Fault(FaultClass.TIMEOUT, f"ran longer than {work.limit_s:g} s")
        all_ended = [
            self._tools.runner.ended(item, fault, claimed_s, self.timer.started_s) for item in pack
        ]
        if work.handler.is_async:
            return all_ended
        self.stuck = True
        return [self._alone_next_time(ended) for ended in all_ended]

    def _report_stray_cancel(self) -> None:
        if not self.ended:
            self._tools.on_stray_cancel()

    def _clear_interruption(self) -> Interruption | None:
        """Remove an interruption, so that the lane can be interrupted again."""
        why = self._interruption
        if why is not None and self._task is not None:
            self._interruption = None
            self._task.uncancel()
        return why

    @staticmethod
    def _alone_next_time(ended: EndedRun) -> EndedRun:
        """Mark the item as suspect: its next attempt gets its own process, which can be killed."""
        again = ended.settlement.status is ItemStatus.PENDING
        return EndedRun(msgspec.structs.replace(ended.settlement, suspect=again), None)
