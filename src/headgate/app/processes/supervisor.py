"""The supervisor process for workers: `python -m headgate.app.processes.supervisor`.

It is separate from the API, so that no request can delay a heartbeat.
"""

import gc

if __name__ == "__main__":
    gc.disable()  # imports leave no garbage; `run_async` enables it again

import asyncio
from typing import BinaryIO

from headgate.app.loops import Loops, Sign
from headgate.app.processes.child_main import LifeSigns, run_child
from headgate.app.processes.control_pipe import watch_parent
from headgate.app.processes.launcher import ProcessLauncher
from headgate.app.settings import Settings
from headgate.app.telemetry import LogObserver
from headgate.app.wiring import open_store
from headgate.engine.clock import SystemClock
from headgate.engine.observed import ObservedStore
from headgate.engine.supervisor import Supervisor, Work
from headgate.ports.clock import Clock

WORKERS = "workers"
"""Name of the loop that starts and watches workers."""
LOOK_S = 1.0


async def supervise(settings: Settings, control_pipe: BinaryIO, signs: LifeSigns) -> None:
    clock = SystemClock()
    observer = LogObserver(settings.log.level)
    async with ObservedStore(open_store(settings), observer, clock) as store:
        supervisor = Supervisor(
            store=store,
            launcher=ProcessLauncher(settings),
            clock=clock,
            observer=observer,
            policies=settings.policies,
        )

        def stop_now() -> None:
            supervisor.stop()
            supervisor.stop()

        watch_parent(control_pipe, asyncio.get_running_loop(), supervisor.stop, stop_now)
        loops = Loops(clock, signs)
        loops.start(WORKERS, lambda sign: _watch(supervisor, clock, sign))
        await supervisor.run(Work(command="serve"))
        await loops.stop()


async def _watch(supervisor: Supervisor, clock: Clock, sign: Sign) -> None:
    """Give a sign of life while the supervisor's round counter advances: a round may hang."""
    rounds = -1
    while True:
        if supervisor.rounds != rounds:
            rounds = supervisor.rounds
            sign()
        await clock.sleep(LOOK_S)


if __name__ == "__main__":
    run_child(supervise)
