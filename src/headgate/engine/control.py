"""Keeps a worker obedient: time limits every moment, pause and cancel within a second."""

from collections.abc import Sequence

from headgate.core.errors import UnknownJob
from headgate.core.status import CLAIMABLE, JobState
from headgate.engine.board import FlightBoard
from headgate.engine.dispatcher import Dispatcher
from headgate.engine.lane import Interruption, Lane
from headgate.ports.clock import Clock
from headgate.ports.reads import ReadStore


class Control:
    """Watches the jobs that this worker has in hand."""

    TICK_S = 0.05

    def __init__(
        self,
        reads: ReadStore,
        lanes: Sequence[Lane],
        dispatcher: Dispatcher,
        board: FlightBoard,
        clock: Clock,
        poll_s: float,
    ) -> None:
        self._reads = reads
        self._lanes = lanes
        self._dispatcher = dispatcher
        self._board = board
        self._clock = clock
        self._poll_s = poll_s

    async def run(self) -> None:
        """Obey for ever."""
        while True:
            await self.obey()
            await self._clock.sleep(self._poll_s)

    async def keep_time(self) -> None:
        """Enforce limits for ever; never waits for the store, which may be away."""
        while True:
            self.enforce_limits()
            await self._clock.sleep(self.TICK_S)

    def enforce_limits(self) -> None:
        """Cut short what runs past its limit, and show that the loop still turns."""
        now_s = self._clock.monotonic()
        self._board.turned(now_s)
        for lane in self._lanes:
            if lane.overdue(now_s):
                lane.interrupt(Interruption.TIMEOUT)

    async def obey(self) -> None:
        """Hand back the waiting items of paused jobs; stop the running ones of cancelled jobs."""
        for job_id in self._jobs_in_hand():
            state = await self._state(job_id)
            if state in CLAIMABLE or state is JobState.INGESTING:
                continue
            await self._dispatcher.return_job(job_id)
            if state in {None, JobState.CANCELLED}:
                for lane in self._lanes:
                    if lane.pack and lane.pack[0].job_id == job_id:
                        lane.interrupt(Interruption.HAND_BACK)

    async def _state(self, job_id: int) -> JobState | None:
        try:
            return (await self._reads.job(job_id)).state
        except UnknownJob:
            return None

    def _jobs_in_hand(self) -> set[int]:
        running = {lane.pack[0].job_id for lane in self._lanes if lane.pack}
        return running | self._dispatcher.waiting_jobs()
