"""The lanes of a worker: as many as may work at once, and one more for each that waits."""

import asyncio
from collections.abc import Iterator

from headgate.engine.gates.wait_queue import WaitingLanes
from headgate.engine.lane import Interruption, Lane, LaneDeps


class LanePool:
    """Lanes that stand before a gate do no work: others are started in their place."""

    SPARE = 8
    """So many times the working lanes may be there in all, however many wait."""

    def __init__(
        self, tools: LaneDeps, concurrency: int, waiting_lanes: WaitingLanes, *, alone: bool = False
    ) -> None:
        """`alone`: a suspect waits here too, for a second one would be blamed for its crash."""
        self._tools = tools
        self._concurrency = concurrency
        self._waiting_lanes = waiting_lanes
        self._tasks: dict[Lane, asyncio.Task[None]] = {}
        self._failed: asyncio.Future[None] | None = None
        self._closing = True
        self.surplus = False
        """More than enough of them are working, so that one may go."""
        self._most = concurrency if alone else concurrency * self.SPARE
        waiting_lanes.on_change = self._adapt
        waiting_lanes.room_for_job = None if alone else concurrency * self.SPARE // 2

    def __iter__(self) -> Iterator[Lane]:
        return iter(tuple(self._tasks))

    @property
    def stuck(self) -> bool:
        """Whether a thread of one of them hangs."""
        return any(lane.stuck for lane in self._tasks)

    async def run(self) -> None:
        """Start, and watch over all of them; raises what one of them raises."""
        self._failed = asyncio.get_running_loop().create_future()
        self._closing = False
        for _ in range(self._concurrency):
            self._start()
        await self._failed

    def hand_back(self) -> None:
        """Cut short what runs; nothing new is begun."""
        self._closing = True
        for lane in self._tasks:
            # Closed first: else it would go on with the next item that waits in the buffer.
            lane.closed = True
            lane.interrupt(Interruption.HAND_BACK)

    async def close(self) -> None:
        """Let each finish what it has in hand."""
        self._closing = True
        for lane in self._tasks:
            lane.closed = True
        self._tools.buffer.wake()
        await asyncio.gather(*self._tasks.values())

    async def cancel(self) -> None:
        """End them at once."""
        self._closing = True
        tasks = list(self._tasks.values())
        for lane, task in self._tasks.items():
            lane.ended = True
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def may_exit(self, lane: Lane) -> bool:
        """Let a lane go, if there are more than enough; it takes nothing any more."""
        if not self.surplus or self._closing:
            return False
        self._tasks.pop(lane, None)
        self._adapt()
        return True

    def _adapt(self) -> None:
        """A lane has begun to wait, goes on, or has ended."""
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
        if not lane.stuck:  # its thread still hangs, and whoever asks must hear of it
            self._tasks.pop(lane, None)
            self._adapt()
        if task.cancelled() or self._failed is None or self._failed.done():
            return
        error = task.exception()
        if error is not None:
            self._failed.set_exception(error)
