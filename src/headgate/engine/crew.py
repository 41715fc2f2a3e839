"""The lanes of a worker: as many as may work at once, and one more for each that waits."""

import asyncio
from collections.abc import Iterator

from headgate.engine.gates.parking import Parking
from headgate.engine.lane import Lane, Tools


class Crew:
    """Lanes that stand before a gate do no work: others are started in their place."""

    SPARE = 8
    """So many times the working lanes may be there in all, however many wait."""

    def __init__(self, tools: Tools, concurrency: int, parking: Parking) -> None:
        self._tools = tools
        self._concurrency = concurrency
        self._parking = parking
        self._tasks: dict[Lane, asyncio.Task[None]] = {}
        self._failed: asyncio.Future[None] | None = None
        parking.on_enter = self._replace
        parking.room_for_job = concurrency * self.SPARE // 2

    def __iter__(self) -> Iterator[Lane]:
        return iter(tuple(self._tasks))

    @property
    def stuck(self) -> bool:
        """Whether a thread of one of them hangs."""
        return any(lane.stuck for lane in self._tasks)

    @property
    def surplus(self) -> bool:
        """Whether more than enough of them are working, so that one may go."""
        return len(self._tasks) - self._parking.total > self._concurrency

    async def run(self) -> None:
        """Start, and watch over all of them; raises what one of them raises."""
        self._failed = asyncio.get_running_loop().create_future()
        for _ in range(self._concurrency):
            self._start()
        await self._failed

    async def close(self) -> None:
        """Let each finish what it has in hand."""
        for lane in self._tasks:
            lane.closed = True
        self._tools.buffer.wake()
        await asyncio.gather(*self._tasks.values())

    async def cancel(self) -> None:
        """End them at once."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _replace(self) -> None:
        working = len(self._tasks) - self._parking.total
        if working < self._concurrency and len(self._tasks) < self._concurrency * self.SPARE:
            self._start()

    def _start(self) -> None:
        lane = Lane(self._tools, self)
        task = asyncio.ensure_future(lane.run())
        self._tasks[lane] = task
        task.add_done_callback(lambda done: self._ended(lane, done))

    def _ended(self, lane: Lane, task: asyncio.Task[None]) -> None:
        if not lane.stuck:  # its thread still hangs, and whoever asks must hear of it
            del self._tasks[lane]
        if task.cancelled() or self._failed is None or self._failed.done():
            return
        error = task.exception()
        if error is not None:
            self._failed.set_exception(error)
