"""Runs one slice of work on one job in a worker process, while a request waits for it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from msgspec.structs import replace

from headgate.app.api.problems import ProblemResponse
from headgate.app.processes.launcher import ProcessLauncher
from headgate.app.settings import Settings
from headgate.app.telemetry import LogObserver
from headgate.engine.supervisor import RunReport, Supervisor, Work
from headgate.ports.clock import Clock
from headgate.ports.store import Store


class Kickoffs:
    """Runs slices: one at a time per job and user, and a limited number in total."""

    AT_ONCE = 4
    HAND_BACK_S = 2.0
    """Seconds that running items may take to finish after the time is up."""

    def __init__(self, store: Store, settings: Settings, clock: Clock) -> None:
        self._clock = clock
        self._under_way: set[tuple[int, str]] = set()
        self._room = asyncio.Semaphore(self.AT_ONCE)
        worker = replace(settings.worker, processes=1, shutdown_s=self.HAND_BACK_S)
        settings = replace(settings, worker=worker)
        policies, launcher = settings.policies, ProcessLauncher(settings)
        observer = LogObserver(settings.log.level)
        self._supervisor: Callable[[], Supervisor] = lambda: Supervisor(
            store, launcher, clock, observer, policies
        )

    async def run(self, job_id: int, user: str, seconds: float) -> RunReport:
        async with self._alone(job_id, user), self._room:
            work = Work((job_id,), drain=True, budget_s=seconds, command="kickoff")
            return await self._supervisor().run(work)

    @asynccontextmanager
    async def _alone(self, job_id: int, user: str) -> AsyncIterator[None]:
        mine = (job_id, user)
        if mine in self._under_way:
            raise ProblemResponse(
                409, f"a slice of job {job_id} is already running for you; wait until it ends"
            )
        self._under_way.add(mine)
        try:
            yield
        finally:
            self._under_way.discard(mine)
