"""One of the parallel tracks of a worker: takes an item, runs it, hands over its settlement."""

import asyncio
from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from headgate.core.fault import Fault, FaultClass
from headgate.core.item import ClaimedItem
from headgate.core.settlement import hand_back
from headgate.core.status import ItemStatus
from headgate.engine.board import FlightBoard
from headgate.engine.buffer import Buffer
from headgate.engine.packs import PackRunner
from headgate.engine.runner import Ended, Runner
from headgate.engine.settler import Settler
from headgate.engine.work import JobWork, Workshop
from headgate.ports.clock import Clock
from headgate.ports.observer import Observer


class Interruption(StrEnum):
    """Why a running handler is cut short."""

    TIMEOUT = "timeout"
    HAND_BACK = "hand_back"


class Tools(msgspec.Struct, frozen=True):
    """What all lanes of a worker share."""

    buffer: Buffer
    runner: Runner
    packs: PackRunner
    settler: Settler
    workshop: Workshop
    board: FlightBoard
    observer: Observer
    clock: Clock
    doubt_s: float
    """How long the loop may stand still before our leases may have been given to others."""


class Company(Protocol):
    """The other lanes."""

    surplus: bool
    """One of them may go."""

    def dismiss(self, lane: "Lane") -> bool:
        """Whether this one may."""
        ...


class Lane:
    """Runs items one after the other until it is closed, or not needed any more."""

    BURST = 64
    """Handlers that never wait would starve the commits, so a lane pauses after this many."""
    PAUSE_S = 0.01

    def __init__(self, tools: Tools, company: Company) -> None:
        self._tools = tools
        self._company = company
        self._task: asyncio.Task[object] | None = None
        self._interruption: Interruption | None = None
        self.closed = False
        self.stuck = False
        """A plain function ran past its limit; its thread, our only one, cannot be stopped."""
        self.pack: Sequence[ClaimedItem] = ()
        self.started_s = 0.0
        self.limit_s = 0.0

    async def run(self) -> None:
        """Work until closed."""
        tools = self._tools
        self._task = asyncio.current_task()
        burst = 0
        while not (self.closed or self.stuck):
            if self._company.surplus and self._company.dismiss(self):
                return
            if tools.clock.monotonic() - tools.board.turned_here_s > tools.doubt_s:
                # We were frozen. Control lets go of what waits before it says that the loop turns.
                await tools.clock.sleep(self.PAUSE_S)
                continue
            taken = tools.buffer.take()
            if taken is None:
                burst = 0
                await tools.buffer.wait_filled()
                continue
            await self._fly(*taken)
            burst += 1
            if tools.settler.crowded:
                await tools.settler.wait_room()
            elif burst >= self.BURST:
                burst = 0
                await tools.clock.sleep(0)

    def interrupt(self, why: Interruption) -> None:
        """Cut the running handler short, if there is one."""
        if self.pack and self._task is not None and self._interruption is None:
            self._interruption = why
            self._task.cancel()

    def overdue(self, now_s: float) -> bool:
        """Whether the running handler is past its limit."""
        return bool(self.pack) and now_s - self.started_s > self.limit_s

    async def _fly(self, first: ClaimedItem, claimed_s: float) -> None:
        work = self._tools.workshop.work_of(first.job_id)
        size = work.handler.pack
        if size is None:
            self.pack = (first,)
        else:
            more = 0 if first.suspect else size - 1
            self.pack = (first, *self._tools.buffer.take_like(first, more))
        slots = self._take_off(work)
        pack = self.pack
        try:
            if size is None:
                all_ended: Sequence[Ended] = (await self._tools.runner.run(first, claimed_s),)
            else:
                all_ended = await self._tools.packs.run(pack, claimed_s)
            self._calm_down()  # it may have been told to stop and ended by itself all the same
        except asyncio.CancelledError:
            all_ended = self._cut_short(work, pack, claimed_s)
        finally:
            self.pack = ()
            for slot in slots:
                self._tools.board.end(slot)
        self._land(work, pack, all_ended)

    def _take_off(self, work: JobWork) -> list[int]:
        """Note on the board what starts now."""
        board, observer, name = self._tools.board, self._tools.observer, work.handler.name
        self.started_s, self.limit_s = self._tools.clock.monotonic(), work.limit_s
        slots = []
        for item in self.pack:
            slots.append(board.start(item.id, item.epoch, self.started_s, self.limit_s))
            observer.started(item, name)
        return slots

    def _land(self, work: JobWork, pack: Sequence[ClaimedItem], all_ended: Sequence[Ended]) -> None:
        """Hand over the settlements."""
        settler, observer, name = self._tools.settler, self._tools.observer, work.handler.name
        for item, ended in zip(pack, all_ended, strict=True):
            observer.ended(item, name, ended.settlement)
            settler.add(ended.settlement, ended.columns)

    def _cut_short(
        self,
        work: JobWork,
        pack: Sequence[ClaimedItem],
        claimed_s: float,
    ) -> list[Ended]:
        why = self._calm_down()
        if why is None:
            raise asyncio.CancelledError  # the worker itself is being torn down
        if why is Interruption.HAND_BACK:
            return [Ended(hand_back(item, "worker was told to stop"), None) for item in pack]
        fault = Fault(FaultClass.TIMEOUT, f"ran longer than {work.limit_s:g} s")
        all_ended = [
            self._tools.runner.ended(item, fault, claimed_s, self.started_s) for item in pack
        ]
        if work.handler.is_async:
            return all_ended
        self.stuck = True
        return [self._alone_next_time(ended) for ended in all_ended]

    def _calm_down(self) -> Interruption | None:
        """Take back an interruption, so that the lane can be interrupted again."""
        why = self._interruption
        if why is not None and self._task is not None:
            self._interruption = None
            self._task.uncancel()
        return why

    @staticmethod
    def _alone_next_time(ended: Ended) -> Ended:
        """Its next attempt gets a process of its own, which can be ended if it hangs again."""
        again = ended.settlement.status is ItemStatus.PENDING
        return Ended(msgspec.structs.replace(ended.settlement, suspect=again), None)
