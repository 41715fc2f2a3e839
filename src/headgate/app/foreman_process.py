"""A supervisor of workers in a process of its own: `python -m headgate.app.foreman_process`.

Apart from the API, so that no request can hold up a heartbeat.
"""

import asyncio
from typing import BinaryIO

from headgate.app.employment import work_as
from headgate.app.launch import ProcessLauncher
from headgate.app.leash import watch_leash
from headgate.app.settings import Settings
from headgate.app.telemetry import LogObserver
from headgate.app.wiring import open_store
from headgate.engine.clock import SystemClock
from headgate.engine.observed import ObservedStore
from headgate.engine.policy import Policies
from headgate.engine.supervisor import Supervisor, Work


async def supervise(settings: Settings, leash: BinaryIO) -> None:
    """Keep workers on all jobs of the store."""
    clock = SystemClock()
    observer = LogObserver(settings.log.level)
    async with ObservedStore(open_store(settings), observer, clock) as store:
        supervisor = Supervisor(
            store=store,
            launcher=ProcessLauncher(settings),
            clock=clock,
            observer=observer,
            policies=Policies(settings.worker, settings.claim, settings.retry, settings.retention),
        )

        def hurry() -> None:
            supervisor.stop()
            supervisor.stop()

        watch_leash(leash, asyncio.get_running_loop(), supervisor.stop, hurry)
        await supervisor.run(Work(command="serve"))


if __name__ == "__main__":
    work_as(supervise)
