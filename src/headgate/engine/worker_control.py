"""Applies time limits at every tick, and pause and cancel within a second."""

from collections.abc import Iterable

from headgate.core.errors import UnknownJob
from headgate.core.status import CLAIMABLE, JobState
from headgate.engine.board import FlightBoard
from headgate.engine.dispatcher import Dispatcher, DispatchTimes
from headgate.engine.lane import Interruption, Lane
from headgate.ports.clock import Clock
from headgate.ports.reads import ReadStore


class WorkerControl:
    """Watches the jobs whose items this worker holds."""

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
            await self.obey()
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

    async def obey(self) -> None:
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
