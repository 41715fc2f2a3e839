"""Time at a gate is not the handler's own: worker, supervisor and lease agree on that."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.app.http_factory import HttpFactory
from headgate.core.item import Item
from headgate.core.provider import ProviderPolicy
from headgate.engine.board import FlightBoard
from headgate.engine.clock import SystemClock
from headgate.engine.engine import SliceBudget
from headgate.engine.gates.tree import GateClosed
from headgate.engine.handler_timer import HandlerTimer
from headgate.engine.lane import LEASE_MARGIN_S
from headgate.engine.lane_pool import WorkerControl
from headgate.engine.worker_handle import WorkerHandle
from headgate.net.stack import HttpStack
from headgate.ports.gate import Turn
from headgate.ports.handler import Context
from headgate.ports.items import HeldLease
from headgate.ports.launcher import WorkerOrder
from headgate.stores.sqlite import SqliteStore
from headgate.testing import FakeClock
from tests.kit.processes import FakeProcess
from tests.unit.engine.gates.test_tree import Town, answer
from tests.unit.engine.test_engine import Bench

LIMIT_S, GRACE_S, DAY_S = 6.0, 1.0, 86_400.0
ROWS = 3
LOADED_IN_S = 8.0
"""Longer than a handler may run, but not so long that the worker doubts its leases."""


@pytest.fixture
def town() -> Town:
    return Town()


@pytest.fixture
def board() -> Iterator[FlightBoard]:
    board = FlightBoard.create()
    yield board
    board.close()


def started(clock: FakeClock, board: FlightBoard, *, items: int = 1) -> HandlerTimer:
    timer = HandlerTimer(clock, board, LIMIT_S, DAY_S)
    now_s = clock.monotonic()
    timer.start([board.start(item, 1, now_s, LIMIT_S) for item in range(1, items + 1)])
    return timer


async def closed(town: Town, seconds: int) -> None:
    """The gate closes for `seconds`."""
    answer(await town.enter(), 429, {"retry-after": str(seconds)})


async def test_the_timer_of_a_handler_stops_while_it_waits_at_a_gate(
    town: Town, board: FlightBoard
):
    await closed(town, 25)
    timer = started(town.clock, board)
    waiting = town.knock(turn=Turn("me", 1, timer))
    for _ in range(25):
        await town.clock.advance(1.0)
        assert not timer.is_over(town.clock.monotonic())
    await town.clock.advance(1.0)
    answer(waiting.result())
    assert timer.waited_s(town.clock.monotonic()) >= 25.0
    await town.clock.advance(LIMIT_S - 1.5)
    assert not timer.is_over(town.clock.monotonic())
    await town.clock.advance(2.0)
    assert timer.is_over(town.clock.monotonic())


@pytest.mark.parametrize("items", [1, 3], ids=["one item", "a pack"])
async def test_the_supervisor_ends_no_process_whose_handler_waits_at_a_gate(
    town: Town, board: FlightBoard, items: int
):
    await closed(town, 25)
    timer = started(town.clock, board, items=items)
    child = WorkerHandle(WorkerOrder("w", "s", None, 4), FakeProcess(), board)
    waiting = town.knock(turn=Turn("me", 1, timer))
    while not waiting.done():
        await town.clock.advance(WorkerControl.TICK_S)
        now_s = town.clock.monotonic()
        timer.is_over(now_s)  # as the worker asks at each tick
        assert child.overdue(now_s, GRACE_S) == []
    await town.clock.advance(LIMIT_S + GRACE_S + 0.1)
    now_s = town.clock.monotonic()
    assert timer.is_over(now_s)
    child.overdue(now_s, GRACE_S)
    assert len(child.overdue(now_s, GRACE_S)) == items


async def test_a_handler_that_blocks_its_process_while_a_request_waits_is_ended_anyway(
    town: Town, board: FlightBoard
):
    """The loop does not turn, so nothing is shown on the board any more."""
    await closed(town, 25)
    timer = started(town.clock, board)
    child = WorkerHandle(WorkerOrder("w", "s", None, 4), FakeProcess(), board)
    waiting = town.knock(turn=Turn("me", 1, timer))
    await town.clock.advance(0.0)
    blocked_s = town.clock.monotonic() + 2 * LIMIT_S + GRACE_S + 0.1
    child.overdue(blocked_s, GRACE_S)
    assert [flight.item_id for flight in child.overdue(blocked_s, GRACE_S)] == [1]
    waiting.cancel()


async def test_a_request_that_is_refused_or_given_up_stops_waiting(board: FlightBoard):
    town = Town(prices=ProviderPolicy(concurrency=1))
    await town.enter()
    timer = started(town.clock, board)
    impatient = town.knock(turn=Turn("me", 1, timer), patience_s=30.0)
    given_up = town.knock(turn=Turn("me", 1, timer))
    await town.clock.advance(2.0)
    given_up.cancel()
    await town.clock.advance(40.0)
    with pytest.raises(GateClosed):
        await impatient
    await asyncio.wait([given_up])
    waited_s = timer.waited_s(town.clock.monotonic())
    await town.clock.advance(10.0)
    assert timer.waited_s(town.clock.monotonic()) == waited_s
    assert timer.is_over(town.clock.monotonic())


async def test_the_time_at_gates_that_does_not_count_is_bounded(board: FlightBoard):
    clock = FakeClock()
    timer = HandlerTimer(clock, board, LIMIT_S, longest_wait_s=60.0)
    timer.begin()
    await clock.advance(65.0)
    assert not timer.is_over(clock.monotonic())
    await clock.advance(2.0)
    assert timer.is_over(clock.monotonic())


async def test_a_request_that_outlives_its_handler_changes_no_slot(board: FlightBoard):
    clock = FakeClock()
    timer = started(clock, board)
    timer.begin()
    timer.stop()
    board.end(board.start(2, 1, 0.0, LIMIT_S))
    board.start(3, 1, clock.monotonic(), LIMIT_S)
    timer.end()
    assert board.running()[-1].excused_s == 0.0


async def test_a_lease_is_extended_while_its_item_waits_at_a_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Nothing is written while the lease still lasts for all that the handler may need."""
    monkeypatch.setattr("headgate.engine.lane.LEASE_SLACK_S", LEASE_MARGIN_S)
    extended: list[tuple[str, list[HeldLease], float]] = []
    noted = asyncio.Event()

    async def handler(item: Item, ctx: object) -> dict[str, object]:
        (lane,) = (each for each in bench.lanes if each.pack)
        if item.key == "key-2":
            lane.timer.begin()
            await noted.wait()
            lane.timer.end()
        return {}

    async with SqliteStore(tmp_path / "headgate.db") as store:
        bench = Bench(store, handler, timeout_s=300.0)
        engine = await bench.engine(3, concurrency=1)
        bench.lanes = engine._lane_pool
        extend = store.items.extend

        async def seen(worker: str, held: list[HeldLease], lease_s: float) -> int:
            found = await extend(worker, held, lease_s)
            extended.append((worker, held, lease_s))
            noted.set()
            return found

        monkeypatch.setattr(store.items, "extend", seen)
        async with asyncio.timeout(30):
            await engine.run_slice(SliceBudget(until_idle=True))
        second = (await bench.items())[1]
    assert [(worker, [each.item_id for each in held]) for worker, held, _ in extended] == [
        (bench.worker, [second.id])
    ]
    assert extended[0][2] > 300.0


def test_a_plain_function_that_waits_for_a_thread_has_not_begun(board: FlightBoard):
    clock = FakeClock()
    timer = started(clock, board)
    child = WorkerHandle(WorkerOrder("w", "s", None, 4), FakeProcess(), board)
    timer.await_thread()
    for _ in range(40):
        asyncio.run(clock.advance(1.0))
        now_s = clock.monotonic()
        assert not timer.is_over(now_s)
        assert child.overdue(now_s, GRACE_S) == []
    timer.has_thread()
    asyncio.run(clock.advance(LIMIT_S - 0.5))
    assert not timer.is_over(clock.monotonic())
    asyncio.run(clock.advance(1.0))
    assert timer.is_over(clock.monotonic())


@pytest.fixture
def ticked(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """The clock goes on while the HTTP stack is loaded; after that, limits were enforced."""
    ticked = threading.Event()
    now_s, load, enforce = SystemClock.monotonic, HttpFactory._open, WorkerControl.enforce_limits
    begin, begun = HandlerTimer.begin, threading.Semaphore(0)
    passed_s = [0.0]

    def begin_to_wait(timer: HandlerTimer) -> None:
        begin(timer)
        begun.release()

    def later(clock: SystemClock) -> float:
        return now_s(clock) + passed_s[0]

    def load_slowly(factory: HttpFactory) -> HttpStack:
        stack = load(factory)
        for _ in range(ROWS):  # threads of the other rows may be late
            assert begun.acquire(timeout=60.0)
        passed_s[0] += LOADED_IN_S
        return stack

    def tick(control: WorkerControl) -> None:
        enforce(control)
        if passed_s[0]:
            ticked.set()

    monkeypatch.setattr(HandlerTimer, "begin", begin_to_wait)
    monkeypatch.setattr(SystemClock, "monotonic", later)
    monkeypatch.setattr(HttpFactory, "_open", load_slowly)
    monkeypatch.setattr(WorkerControl, "enforce_limits", tick)
    return ticked


@pytest.mark.parametrize("awaited", [True, False])
async def test_loading_the_http_client_costs_no_handler_time(
    tmp_path: Path, ticked: threading.Event, *, awaited: bool
):
    """With `timeout=1` on a busy machine, rows lost an attempt when the first one used ctx.http."""
    began = asyncio.Barrier(ROWS)
    began_in_threads = threading.Barrier(ROWS)

    async def asynchronous(item: Item, ctx: Context) -> None:
        await began.wait()
        assert ctx.http
        assert await asyncio.to_thread(ticked.wait, 60.0)

    def plain(item: Item, ctx: Context) -> None:
        began_in_threads.wait(60.0)
        assert ctx.http
        assert ticked.wait(60.0)

    async with SqliteStore(tmp_path / "headgate.db") as store:
        bench = Bench(store, asynchronous if awaited else plain, timeout_s=LIMIT_S)
        await bench.run(ROWS)
        assert await bench.endings() == [("DONE", 1)] * ROWS
        await bench.traffic.close()


async def test_the_supervisor_sees_that_a_handler_is_paused_before_the_loop_is_blocked(
    board: FlightBoard,
):
    clock = FakeClock()
    timer = started(clock, board)
    timer.pause()
    await clock.advance(LIMIT_S + GRACE_S + 1.0)
    (running,) = board.running()
    assert not running.is_late(clock.monotonic(), GRACE_S)
    timer.end()
    assert not timer.is_over(clock.monotonic())
    await clock.advance(LIMIT_S + 0.5)
    assert timer.is_over(clock.monotonic())
