"""The lanes of a worker, and the time limits, pauses and cancellations that stop them.

There are as many lanes as may work at once, and one more for each that waits.
"""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from headgate.core.errors import UnknownJob
from headgate.core.status import CLAIMABLE, JobState
from headgate.engine.board import FlightBoard
from headgate.engine.dispatcher import Dispatcher, DispatchTimes
from headgate.engine.gates.wait_queue import WaitingLanes
from headgate.engine.lane import Interruption, Lane, LaneDeps
from headgate.ports.clock import Clock
from headgate.ports.reads import ReadStore


class LanePool:
    """Lanes that wait at a gate do no work, so others are started in their place."""

    SPARE = 8
    """Upper limit of all lanes, as a multiple of the working lanes."""

    def __init__(
        self, tools: LaneDeps, concurrency: int, waiting_lanes: WaitingLanes, *, alone: bool = False
    ) -> None:
        """With `alone`, one suspect runs at a time: a second would be blamed for its crash."""
        self._tools = tools
        self._concurrency = concurrency
        self._waiting_lanes = waiting_lanes
        self._tasks: dict[Lane, asyncio.Task[None]] = {}
        self._failed: asyncio.Future[None] | None = None
        self._closing = True
        self.surplus = False
        """More lanes are working than needed, so one may end."""
        self._most = concurrency if alone else concurrency * self.SPARE
        waiting_lanes.on_change = self._adapt
        waiting_lanes.room_for_job = None if alone else concurrency * self.SPARE // 2

    def __iter__(self) -> Iterator[Lane]:
        return iter(tuple(self._tasks))

    @property
    def stuck(self) -> bool:
        """True if a thread of one lane hangs."""
        return any(lane.stuck for lane in self._tasks)

    async def run(self) -> None:
        """Start the lanes and watch them; raises what one of them raises."""
        self._failed = asyncio.get_running_loop().create_future()
        self._closing = False
        for _ in range(self._concurrency):
            self._start()
        await self._failed

    @contextmanager
    def untimed(self) -> Iterator[None]:
        """Work on the event loop that must not count against the limits of running handlers."""
        timers = [lane.timer for lane in self._tasks if lane.pack]
        for timer in timers:
            timer.pause()
        try:
            yield
        finally:
            for timer in timers:
                timer.end()

    def hand_back(self) -> None:
        self._closing = True
        for lane in self._tasks:
            # Closed first: otherwise it would take the next item from the buffer.
            lane.closed = True
            lane.interrupt(Interruption.HAND_BACK)

    async def close(self) -> None:
        self._closing = True
        for lane in self._tasks:
            lane.closed = True
        self._tools.buffer.wake()
        await asyncio.gather(*self._tasks.values())

    async def cancel(self) -> None:
        self._closing = True
        tasks = list(self._tasks.values())
        for lane, task in self._tasks.items():
            lane.ended = True
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def may_exit(self, lane: Lane) -> bool:
        """Drop a lane if more are working than needed; it takes nothing any more."""
        if not self.surplus or self._closing:
            return False
        self._tasks.pop(lane, None)
        self._adapt()
        return True

    def _adapt(self) -> None:
        """Start a lane or mark a surplus after a lane began to wait, went on, or ended."""
        working = len(self._tasks) - self._waiting_lanes.total
        self.surplus = working > self._concurrency
        is_full = len(self._tasks) >= self._most
        if working < self._concurrency and not (is_full or self._closing):
            self._start()

    def _start(self) -> None:
        lane = Lane(self._tools, self)
        task = asyncio.ensure_future(lane.run())
        self._tasks[lane] = task
        task.add_done_callback(lambda done: self._ended(lane, done))

    def _ended(self, lane: Lane, task: asyncio.Task[None]) -> None:
        if not lane.stuck:  # its thread still hangs: `stuck` must show it
            self._tasks.pop(lane, None)
            self._adapt()
        if task.cancelled() or self._failed is None or self._failed.done():
            return
        error = task.exception()
        if error is not None:
            self._failed.set_exception(error)


class WorkerControl:
    TICK_S = 0.05

    def __init__(
        self,
        reads: ReadStore,
        lanes: Iterable[Lane],
        dispatcher: Dispatcher,
        board: FlightBoard,
        clock: Clock,
        patience: DispatchTimes,
    ) -> None:
        self._reads = reads
        self._lanes = lanes
        self._dispatcher = dispatcher
        self._board = board
        self._clock = clock
        self._patience = patience

    async def run(self) -> None:
        while True:
            await self.apply_job_changes()
            await self._clock.sleep(self._patience.poll_s)

    async def keep_time(self) -> None:
        """Enforce limits in a loop; waits for the store only after a standstill."""
        while True:
            # Waiting items are taken out before the lanes see that the loop turns again.
            in_doubt = self._dispatcher.take_waiting() if self._stood_still() else []
            self.enforce_limits()
            await self._dispatcher.return_items(in_doubt)
            await self._clock.sleep(self.TICK_S)

    def _stood_still(self) -> bool:
        """True if we were frozen long enough that our leases may have been given away."""
        still_s = self._clock.monotonic() - self._board.turned_s()
        return still_s > self._patience.doubt_s

    def enforce_limits(self) -> None:
        """Interrupt handlers that are past their limit, and record that the loop turns."""
        now_s = self._clock.monotonic()
        self._board.turned(now_s)
        for lane in self._lanes:
            if lane.overdue(now_s):
                lane.interrupt(Interruption.TIMEOUT)

    async def apply_job_changes(self) -> None:
        """Hand back items that wait too long or are paused; stop items of cancelled jobs."""
        await self._dispatcher.return_stale()
        await self._extend_leases()
        for job_id in self._held_jobs():
            state = await self._state(job_id)
            if state in CLAIMABLE or state is JobState.INGESTING:
                continue
            await self._dispatcher.return_job(job_id)
            if state in {None, JobState.CANCELLED}:
                for lane in self._lanes:
                    if lane.pack and lane.pack[0].job_id == job_id:
                        lane.interrupt(Interruption.HAND_BACK)

    async def _extend_leases(self) -> None:
        """A lease must not end while its item waits at a gate."""
        now_s = self._clock.monotonic()
        for lane in tuple(self._lanes):
            wanted_s = lane.lease_wanted_s(now_s)
            if wanted_s is not None:
                pack = lane.pack
                await self._dispatcher.extend(pack, wanted_s)
                if lane.pack is pack:
                    lane.leased_for(wanted_s, now_s)

    async def _state(self, job_id: int) -> JobState | None:
        try:
            return (await self._reads.job(job_id)).state
        except UnknownJob:
            return None

    def _held_jobs(self) -> set[int]:
        running = {lane.pack[0].job_id for lane in self._lanes if lane.pack}
        return running | self._dispatcher.waiting_jobs()
