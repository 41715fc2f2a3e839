"""A supervisor of workers in a process of its own: `python -m headgate.app.foreman_process`.

Apart from the API, so that no request can hold up a heartbeat.
"""

import asyncio
import os
import sys
import traceback
from typing import BinaryIO

import msgspec

from headgate.app.launch import ProcessLauncher
from headgate.app.leash import (
    be_deaf_to_interrupts,
    briefing_on,
    die_with_parent,
    take_leash,
    watch_leash,
)
from headgate.app.loop import run_async
from headgate.app.settings import Settings
from headgate.app.telemetry import LogObserver, configure
from headgate.app.wiring import open_store
from headgate.engine.clock import SystemClock
from headgate.engine.engine import Policies
from headgate.engine.observed import ObservedStore
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


def main() -> None:
    """Supervise until told to stop."""
    die_with_parent()
    be_deaf_to_interrupts()
    leash = take_leash()
    settings = msgspec.json.decode(briefing_on(leash), type=Settings)
    configure(settings.log.level, settings.log.format)
    code = 1
    try:
        run_async(supervise(settings, leash))
        code = 0
    except BaseException:  # noqa: BLE001  the last word of a process
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
