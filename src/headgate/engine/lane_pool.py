"""The lanes of a worker: as many as may work at once, and one more for each that waits."""

import asyncio
from collections.abc import Iterator

from headgate.engine.gates.wait_queue import WaitingLanes
from headgate.engine.lane import Interruption, Lane, LaneDeps


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

    def hand_back(self) -> None:
        """Interrupt running handlers; nothing new starts."""
        self._closing = True
        for lane in self._tasks:
            # Closed first: otherwise it would take the next item from the buffer.
            lane.closed = True
            lane.interrupt(Interruption.HAND_BACK)

    async def close(self) -> None:
        """Let each lane finish its running items."""
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
