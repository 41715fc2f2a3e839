"""The inside of a worker: dispatcher, lanes, settler and control around one store."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import msgspec

from headgate.core.sizing import ClaimSizer
from headgate.engine.board import FlightBoard
from headgate.engine.buffer import Buffer
from headgate.engine.dispatcher import Dispatcher, DispatchTimes, Scope, dispatch_deps
from headgate.engine.error_count import ErrorCount
from headgate.engine.gates.tree import GateTree
from headgate.engine.job_runtime import JobRuntimes, Places
from headgate.engine.lane import LaneDeps
from headgate.engine.lane_pool import LanePool, WorkerControl
from headgate.engine.packs import PackRunner
from headgate.engine.policy import Policies
from headgate.engine.process import machine_is_busy
from headgate.engine.runner import Runner
from headgate.engine.settler import Settler
from headgate.ports.clock import Clock
from headgate.ports.handler import HandlerLookup, Logger
from headgate.ports.http import HttpOpener
from headgate.ports.observer import Observer
from headgate.ports.store import Store

MICROSECONDS = 1_000_000


class EngineDeps(msgspec.Struct, frozen=True):
    store: Store
    lookup: HandlerLookup
    observer: Observer
    clock: Clock
    log: Logger
    board: FlightBoard
    rng: Random
    http: HttpOpener
    gates: GateTree
    places: Places | None = None
    pressed: Callable[[], bool] = machine_is_busy
    """Is the machine too busy for this worker to claim its full size?"""
    on_warning: Callable[[str], object] = bool
    """Called with a text that says what is wrong with a handler."""
    on_stray_cancel: Callable[[], object] = bool
    """Called at once when other code, such as a handler, cancels a task of the engine."""
    errors: ErrorCount | None = None
    """Counts failed rows, if there is a limit on them."""


class SliceBudget(msgspec.Struct, frozen=True):
    seconds: float | None = None
    until_idle: bool = False


class SliceReport(msgspec.Struct, frozen=True):
    settled: int
    refused: int
    stuck: bool
    """A thread hangs in a handler: this process should be replaced."""


class Engine:
    """Runs slices of work. One engine, one worker id, one process."""

    def __init__(self, scope: Scope, policies: Policies, deps: EngineDeps) -> None:
        policy, retry, store, clock = policies.worker, policies.retry, deps.store, deps.clock
        patience = DispatchTimes(policy.poll_s, policies.claim.lock_floor_s)
        self._deps = deps
        self._policy = policy
        self._sizer = ClaimSizer(policies.claim, policy.concurrency)
        self._buffer = Buffer()
        # One thread for each lane, and as many again for threads that hang in a handler.
        self._threads = ThreadPoolExecutor(2 * policy.concurrency, thread_name_prefix="handler")
        self._settler = Settler(store.items, scope.worker, policy, clock, deps.board, self._sizer)
        self._settler.on_spawned = store.notifier.ring
        runtimes = JobRuntimes(store, deps.lookup, policy, deps.log, deps.http, deps.places)
        runtimes.on_warning = deps.on_warning
        self._runner = runner = Runner(runtimes, retry, policy, clock, deps.rng, self._threads)
        self._dispatcher = Dispatcher(
            scope,
            dispatch_deps(store, clock, deps.board, deps.gates),
            runtimes,
            self._buffer,
            self._sizer,
            patience,
        )
        tools = LaneDeps(
            self._buffer,
            runner,
            PackRunner(runner, runtimes, clock),
            self._settler,
            runtimes,
            deps.board,
            deps.observer,
            clock,
            patience.doubt_s,
            retry.stall_limit_s,
            deps.on_stray_cancel,
            self._dispatcher.stop,
            deps.errors,
            scope.alone,
        )
        self._lane_pool = LanePool(
            tools, policy.concurrency, deps.gates.waiting_lanes, alone=scope.alone
        )
        deps.http.untimed = self._lane_pool.untimed
        self._control = WorkerControl(
            store.reads,
            self._lane_pool,
            self._dispatcher,
            deps.board,
            clock,
            patience,
        )

    async def run_slice(self, budget: SliceBudget) -> SliceReport:
        """Work within a budget. Daemon, drain and slices all start here."""
        clock = self._deps.clock
        until_s = None if budget.seconds is None else clock.monotonic() + budget.seconds
        services = [
            supervise(self._lane_pool.run()),
            supervise(self._settler.run()),
            supervise(self._control.run()),
            supervise(self._control.keep_time()),
        ]
        dispatching = supervise(self._dispatch(until_s, until_idle=budget.until_idle))
        try:
            await _first_failure_or(dispatching, services)
            await self._wind_down(services)
        except asyncio.CancelledError:
            self._deps.on_stray_cancel()
            raise
        finally:
            await self._lane_pool.cancel()
            for task in (*services, dispatching):
                task.cancel()
            await asyncio.gather(*services, dispatching, return_exceptions=True)
        tally = self._deps.board.tally()
        return SliceReport(tally.settled, self._settler.refused, self._stuck())

    def stop(self) -> None:
        """Claim nothing more; running handlers may finish."""
        self._dispatcher.stop()

    def stop_now(self) -> None:
        """Claim nothing more and hand back the running items."""
        self._dispatcher.stop()
        self._lane_pool.hand_back()

    def blame_uncommitted(self) -> None:
        """Show items on the board whose handlers have ended but whose results are not committed.

        For a process that must end because of a handler: it may have been the handler of one of
        these.
        """
        board, now_s = self._deps.board, self._deps.clock.monotonic()
        for settlement in self._settler.uncommitted:
            started_s = now_s - settlement.ran_us / MICROSECONDS
            queued_s = settlement.waited_us / MICROSECONDS
            board.start(settlement.item_id, settlement.epoch, started_s, 0.0, queued_s)

    async def _dispatch(self, until_s: float | None, *, until_idle: bool) -> None:
        """Dispatch until stopped, or until a hung thread requires a new process."""
        watch = asyncio.ensure_future(self._watch_self())
        try:
            more = True
            while more:
                before = self._settler.spawned
                await self._dispatcher.run(until_s, until_idle=until_idle)
                more = until_idle and await self._rest_brought_items(before)
        finally:
            watch.cancel()

    async def _rest_brought_items(self, before: int) -> bool:
        """Wait until all leased items have run; True if more than `before` were added.

        A commit may add items after the last claim and before the dispatcher has returned.
        """
        await self._rest_of_lanes()
        await self._settler.wait_idle()
        return self._settler.spawned > before and not self._dispatcher.stopping

    async def _watch_self(self) -> None:
        """Claim less while the machine is busy; stop when a thread hangs."""
        while not self._stuck():
            self._sizer.pressed(pressed=self._deps.pressed())
            await self._deps.clock.sleep(self._policy.poll_s)
        self._dispatcher.stop()

    def _stuck(self) -> bool:
        hanging = len(self._runner.left_behind) >= self._policy.concurrency
        return hanging or self._lane_pool.stuck

    async def _rest_of_lanes(self) -> None:
        """Wait until all leased items have run, unless stopped."""
        while not self._dispatcher.stopping and (
            len(self._buffer) or any(lane.pack for lane in self._lane_pool)
        ):
            await self._deps.clock.sleep(0.01)

    async def _wind_down(self, services: list[asyncio.Task[None]]) -> None:
        """Hand back waiting items, let the lanes end, commit their results."""
        await self._dispatcher.return_waiting()
        await _first_failure_or(asyncio.ensure_future(self._lane_pool.close()), services)
        await self._settler.wait_idle()


def supervise(service: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Start a service loop as a task that the caller awaits."""
    return asyncio.ensure_future(service)


async def _first_failure_or(
    main: asyncio.Task[None],
    others: list[asyncio.Task[None]],
) -> None:
    """Wait for `main`; a failure of any other task ends the wait and is raised."""
    waiting = {main, *others}
    while not main.done():
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    main.result()
