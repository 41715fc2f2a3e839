"""The worker process: `python -m headgate.app.processes.worker BOARD REPORT`.

Its supervisor controls it through the control pipe.
"""

import gc

if __name__ == "__main__":
    gc.disable()  # imports leave no garbage; `run_async` enables it again

import asyncio
import os
import signal
import sys
from pathlib import Path
from random import Random
from typing import BinaryIO, NoReturn

import msgspec

from headgate import __version__
from headgate.app import streams
from headgate.app.data_folder import JobFiles, data_folder
from headgate.app.event_loop import run_async
from headgate.app.handler_finder import HandlerFinder
from headgate.app.http_factory import HttpFactory
from headgate.app.output_folders import OutputFolders
from headgate.app.processes.control_pipe import (
    die_with_parent,
    ignore_signals,
    read_config,
    take_stdin,
    watch_parent,
)
from headgate.app.processes.launcher import WorkerConfig
from headgate.app.telemetry import LogObserver, catch_strays, configure, logger
from headgate.app.wiring import open_store
from headgate.core.errors import HeadgateError
from headgate.core.worker import WorkerInfo
from headgate.engine.board import FlightBoard
from headgate.engine.clock import SystemClock
from headgate.engine.dispatcher import Scope
from headgate.engine.engine import Engine, EngineDeps, SliceBudget
from headgate.engine.error_count import ErrorCount
from headgate.engine.job_runtime import Places
from headgate.engine.observed import ObservedStore
from headgate.engine.policy import Policies
from headgate.engine.process import process_name
from headgate.handlers.search_path import add_folder
from headgate.ports.launcher import WorkerReport

FAILED = 1
STUCK = 3
DISTURBED = 4
STOPPED = "a handler stopped the event loop of its process"
CANCELLED = "a handler cancelled tasks of its process that are not its own"


class Reporter:
    def __init__(self, fd: int) -> None:
        self._fd = fd

    def say(self, report: WorkerReport) -> None:
        os.write(self._fd, msgspec.json.encode(report) + b"\n")


class FinalReport:
    """Ends the process when a handler has made it unusable; the supervisor counts a crash.

    It exits at once: code that continued would clear the running items from the board.
    """

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self.engine: Engine | None = None

    def stopped(self) -> NoReturn:
        self._end(STOPPED)

    def cancelled(self) -> NoReturn:
        self._end(CANCELLED)

    def _end(self, crash: str) -> NoReturn:
        if self.engine is not None:
            self.engine.blame_uncommitted()
        self._reporter.say(WorkerReport(crash=crash))
        streams.flush()
        os._exit(DISTURBED)


async def work(
    config: WorkerConfig,
    control_pipe: BinaryIO,
    board: FlightBoard,
    reporter: Reporter,
    last_words: FinalReport,
) -> int:
    """Register, run one slice and report how it ended; returns the exit code."""
    order, settings = config.order, config.settings
    clock = SystemClock()
    observer = LogObserver(settings.log.level)
    policy = msgspec.structs.replace(settings.worker, concurrency=order.concurrency)
    async with ObservedStore(open_store(settings), observer, clock) as store:
        await store.jobs.register(_this_worker(config))
        rng = Random()  # noqa: S311  jitter
        traffic = HttpFactory(settings, store, order.worker, clock, rng)
        folders = OutputFolders(clock)
        engine = Engine(
            Scope(order.worker, order.jobs, order.alone, order.ids),
            Policies(policy, settings.claim, settings.retry),
            EngineDeps(
                store,
                HandlerFinder(settings, os.environ),
                observer,
                clock,
                logger(),
                board,
                rng,
                traffic,
                traffic.gates,
                Places(JobFiles(data_folder(settings), clock).locate, folders),
                on_warning=lambda warning: reporter.say(WorkerReport(warning=warning)),
                on_stray_cancel=last_words.cancelled,
                errors=ErrorCount(order.errors) if order.errors else None,
            ),
        )
        last_words.engine = engine
        # Handlers named by module are found from the current folder.
        add_folder(Path.cwd())
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, engine.stop)
        watch_parent(control_pipe, loop, engine.stop, engine.stop_now)
        reporter.say(WorkerReport(ready=True))
        try:
            report = await engine.run_slice(SliceBudget(order.budget_s, until_idle=order.alone))
        finally:
            await folders.close()
            await traffic.close()
    if report.stuck:
        reporter.say(WorkerReport(stuck=True))
    return STUCK if report.stuck else 0


def _this_worker(config: WorkerConfig) -> WorkerInfo:
    me, order = process_name(os.getpid()), config.order
    return WorkerInfo(
        id=order.worker,
        session_id=order.session,
        host=me.host,
        boot_id=me.boot_id,
        pid=me.pid,
        started_ticks=me.started_ticks,
        version=__version__,
        ttl_s=config.settings.claim.lock_floor_s,
        jobs=order.jobs or (),
    )


def main() -> None:
    """Run one worker and exit without waiting for threads that may hang."""
    die_with_parent()
    ignore_signals()
    streams.go_on_without_readers(stdout=True)
    board_fd, report_fd = int(sys.argv[1]), int(sys.argv[2])
    reporter = Reporter(report_fd)
    control_pipe = take_stdin()
    config = msgspec.json.decode(read_config(control_pipe), type=WorkerConfig)
    configure(config.settings.log.level, config.settings.log.format)
    catch_strays()
    code = FAILED
    last_words = FinalReport(reporter)
    board = FlightBoard(board_fd)
    try:
        code = run_async(
            work(config, control_pipe, board, reporter, last_words), last_words.stopped
        )
    except HeadgateError as error:
        reporter.say(WorkerReport(error=str(error), error_kind=type(error).__name__))
    except BaseException as error:  # noqa: BLE001  the process reports it and exits
        logger().error("a worker process failed", exc_info=error)
        reporter.say(WorkerReport(error=repr(error), error_kind=type(error).__name__))
    streams.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
