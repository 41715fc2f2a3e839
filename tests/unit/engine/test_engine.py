"""A worker's inside, whole, on a real store: packs, limits, stops and control."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
import structlog

from headgate.app.http_factory import HttpFactory
from headgate.app.settings import Settings
from headgate.core.errors import UsageError
from headgate.core.fault import FaultClass
from headgate.core.item import Item
from headgate.core.job import Job
from headgate.core.outcome import NotFound
from headgate.core.retry import RetryPolicy
from headgate.core.sizing import ClaimPolicy
from headgate.core.status import ItemStatus, JobState
from headgate.core.trace import Trace, trace_in
from headgate.engine.board import FlightBoard
from headgate.engine.clock import SystemClock
from headgate.engine.dispatcher import Scope
from headgate.engine.engine import Engine, EngineDeps, Policies, SliceBudget, SliceReport
from headgate.engine.job_control import JobControl
from headgate.engine.policy import WorkerPolicy
from headgate.ports.handler import Context, HandlerSpec
from headgate.ports.reads import EventQuery, ItemQuery, ItemRow
from headgate.stores.sqlite.store import SqliteStore
from tests.kit import factories
from tests.kit.observer import SpyObserver

IMPATIENT = RetryPolicy(backoff_base_s=0.0)
USUAL = ClaimPolicy()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


class Bench:
    """An engine around one handler, and what it left in the store."""

    def __init__(self, store: SqliteStore, handler: Callable[..., Any], **options: Any) -> None:
        self.store = store
        self.job: Job
        self.board = FlightBoard.create()
        self.observer = SpyObserver()
        self.on_stray_cancel: Callable[[], object] = bool
        self.on_warning: Callable[[str], object] = bool
        self.settings = Settings()
        self._spec = HandlerSpec(
            "test", "test", handler, asyncio.iscoroutinefunction(handler), **options
        )

    def pressed(self) -> bool:
        """How busy the machine of a test is must not change what the test sees."""
        return False

    async def engine(
        self,
        items: int,
        retry: RetryPolicy = IMPATIENT,
        gates: Sequence[str] = ("",),
        claim: ClaimPolicy = USUAL,
        *,
        alone: bool = False,
        **policy: Any,
    ) -> Engine:
        self.job = await factories.job(self.store, items, gates=gates)
        worker = WorkerPolicy(**{"concurrency": 4, "poll_s": 0.02, **policy})
        self.traffic = traffic = HttpFactory(
            self.settings, self.store, "me", SystemClock(), Random(1)
        )
        surroundings = EngineDeps(
            self.store,
            lambda reference: self._spec,
            self.observer,
            SystemClock(),
            structlog.get_logger(),
            self.board,
            Random(1),
            traffic,
            traffic.gates,
            pressed=self.pressed,
            on_stray_cancel=self.on_stray_cancel,
            on_warning=self.on_warning,
        )
        self.worker = await factories.worker(self.store)
        scope = Scope(self.worker, alone=alone)
        return Engine(scope, Policies(worker=worker, claim=claim, retry=retry), surroundings)

    async def run(self, items: int, **policy: Any) -> SliceReport:
        engine = await self.engine(items, **policy)
        self.lanes = engine._lane_pool
        while True:
            report = await engine.run_slice(SliceBudget(until_idle=True))
            assert self.board.running() == []
            demand = await self.store.jobs.demand(None, None)
            if report.stuck or not demand.contenders:
                return report

    async def items(self) -> list[ItemRow]:
        return list((await self.store.reads.items(ItemQuery(self.job.id))).items)

    async def endings(self) -> list[tuple[str, int]]:
        return [(item.status, item.attempts) for item in await self.items()]


# ---- packs -------------------------------------------------------------------------------------


async def test_a_pack_is_halved_until_the_failing_row_is_alone(store: SqliteStore):
    packs: list[list[str]] = []

    async def handler(items: list[Item], ctx: object) -> list[dict[str, Any]]:
        packs.append([item.key for item in items])
        if any(item.key == "key-6" for item in items):
            raise ValueError("this row is bad")
        return [{"key": item.key} for item in items]

    bench = Bench(store, handler, pack=8)
    await bench.run(8, retry=RetryPolicy(max_attempts_error=1), concurrency=1)
    assert await bench.endings() == [("ERROR" if n == 6 else "DONE", 1) for n in range(1, 9)]
    assert [len(pack) for pack in packs] == [8, 4, 4, 2, 1, 1, 2]
    bad = (await bench.items())[5]
    assert (bad.error_class, bad.last_error) == (
        FaultClass.TRANSIENT,
        "ValueError: this row is bad",
    )


async def test_a_pack_has_items_of_one_gate_if_there_are_enough(store: SqliteStore):
    packs: list[set[int]] = []

    async def handler(items: list[Item], ctx: object) -> list[dict[str, Any]]:
        packs.append({int(item.input["n"]) % 2 for item in items})
        return [{} for _ in items]

    bench = Bench(store, handler, pack=4, gate_of=str)
    # How much a claim takes follows the time of the items, unless it is given.
    await bench.run(16, gates=["a", "b"], claim=ClaimPolicy(claim_min=8, claim_max=8))
    assert packs == [{0}, {1}, {0}, {1}]


@pytest.mark.parametrize("pressed", [True, False])
async def test_the_sizer_of_claims_knows_whether_the_machine_is_under_load(
    store: SqliteStore, pressed: bool
):
    bench = Bench(store, lambda item, ctx: {})
    bench.pressed = lambda: pressed  # type: ignore[method-assign]
    engine = await bench.engine(4)
    await engine.run_slice(SliceBudget(until_idle=True))
    assert engine._sizer._pressed is pressed


async def test_the_trace_of_a_row_does_not_show_the_halving_of_packs(store: SqliteStore):
    async def handler(items: list[Item], ctx: object) -> list[dict[str, Any]]:
        raise ValueError("this row is bad")

    bench = Bench(store, handler, pack=4)
    await bench.run(4, retry=RetryPolicy(max_attempts_error=1), concurrency=1)
    (attempt,) = await store.reads.attempts((await bench.items())[-1].id)
    assert "ValueError: this row is bad" in str(attempt.trace)
    assert "While this was handled" not in str(attempt.trace)


async def test_a_network_error_retries_the_whole_pack(store: SqliteStore):
    sizes: list[int] = []

    async def handler(items: list[Item], ctx: object) -> list[dict[str, Any]]:
        sizes.append(len(items))
        if len(sizes) == 1:
            raise ConnectionResetError("reset by peer")
        return [{} for _ in items]

    bench = Bench(store, handler, pack=8)
    await bench.run(8, concurrency=1)
    assert sizes == [8, 8]
    assert await bench.endings() == [("DONE", 2)] * 8


@pytest.mark.parametrize("count", [0, 9])
async def test_a_pack_of_the_wrong_length_is_an_error_of_the_pack(store: SqliteStore, count: int):
    async def handler(items: list[Item], ctx: object) -> object:
        return [{}] * count

    bench = Bench(store, handler, pack=4)
    await bench.run(4, retry=RetryPolicy(max_attempts_error=1), concurrency=1)
    assert await bench.endings() == [("ERROR", 1)] * 4
    reason = str((await bench.items())[0].last_error)
    assert f"was given a pack of 1 row and returned {count} results" in reason


@pytest.mark.parametrize("answer", [None, "four", {"a": 1}, 7])
async def test_a_pack_handler_that_returns_no_list_is_not_called_again(
    store: SqliteStore, answer: object
):
    sizes: list[int] = []

    async def handler(items: list[Item], ctx: object) -> object:
        sizes.append(len(items))
        return answer

    bench = Bench(store, handler, pack=4)
    await bench.run(4, concurrency=1)
    assert sizes == [4]
    items = await bench.items()
    assert {item.error_class for item in items} == {FaultClass.INVALID_RESULT}
    assert f"returned {type(answer).__name__}, not a list" in str(items[0].last_error)


@pytest.mark.parametrize("dropped", [1, -1], ids=["too few", "too many"])
async def test_a_pack_of_the_wrong_length_is_reported_once_with_advice(
    store: SqliteStore, dropped: int
):
    """Its rows are found out one by one, so their results are right all the same."""

    async def handler(items: list[Item], ctx: object) -> object:
        results = [{"key": item.key} for item in items]
        if len(items) > 1:
            return results[:-1] if dropped > 0 else [*results, {}]
        return results

    told: list[str] = []
    bench = Bench(store, handler, pack=4)
    bench.on_warning = told.append
    await bench.run(12, concurrency=2)
    assert await bench.endings() == [("DONE", 1)] * 12
    (event,) = (
        event.message
        for event in await store.reads.events(EventQuery(bench.job.id))
        if event.kind == "handler_warning"
    )
    assert told == [event]
    assert f"handler test was given a pack of 4 rows and returned {4 - dropped} results" in event
    assert "it must return a list with one result for each row, in the same order" in event


async def test_each_row_of_a_pack_has_its_own_outcome(store: SqliteStore):
    def handler(items: list[Item], ctx: object) -> list[Any]:
        answers = [{"price": 1}, NotFound(), None, 42]
        return [answers[(item.id - 1) % 4] for item in items]

    bench = Bench(store, handler, pack=4)
    await bench.run(4)
    assert [item.status for item in await bench.items()] == [
        ItemStatus.DONE,
        ItemStatus.NOT_FOUND,
        ItemStatus.DONE,
        ItemStatus.ERROR,
    ]


# ---- time limits -------------------------------------------------------------------------------


async def test_an_async_handler_past_its_limit_is_cancelled_and_loses_an_attempt(
    store: SqliteStore,
):
    async def handler(item: Item, ctx: object) -> dict[str, Any]:
        if item.key == "key-2":
            await asyncio.get_running_loop().create_future()
        return {}

    bench = Bench(store, handler)
    report = await bench.run(4, item_timeout_s=0.05)
    assert await bench.endings() == [("DONE", 1), ("ERROR", 3), ("DONE", 1), ("DONE", 1)]
    slow = (await bench.items())[1]
    assert (slow.error_class, slow.last_error) == (FaultClass.TIMEOUT, "ran longer than 0.05 s")
    assert not report.stuck


async def test_a_limit_of_the_handler_itself_comes_first(store: SqliteStore):
    async def handler(item: Item, ctx: object) -> None:
        await asyncio.get_running_loop().create_future()

    bench = Bench(store, handler, timeout_s=0.05)
    await bench.run(1, retry=RetryPolicy(max_attempts_error=1), item_timeout_s=600.0)
    assert (await bench.items())[0].last_error == "ran longer than 0.05 s"


async def test_a_lane_whose_handler_would_not_be_interrupted_can_be_interrupted_again(
    store: SqliteStore,
):
    async def handler(item: Item, ctx: object) -> dict[str, Any]:
        endless = asyncio.get_running_loop().create_future()
        if item.key == "key-1":
            try:
                await endless
            except asyncio.CancelledError:
                return {"stubborn": True}
        await endless
        return {}

    bench = Bench(store, handler)
    once = RetryPolicy(max_attempts_error=1)
    await bench.run(3, retry=once, concurrency=1, item_timeout_s=0.05)
    assert await bench.endings() == [("DONE", 1), ("ERROR", 1), ("ERROR", 1)]


async def test_a_plain_handler_that_hangs_needs_a_new_process(store: SqliteStore):
    release = threading.Event()

    def handler(item: Item, ctx: object) -> dict[str, Any]:
        if item.key == "key-1":
            release.wait(30)
        return {}

    bench = Bench(store, handler)
    report = await bench.run(3, concurrency=1, item_timeout_s=0.1)
    release.set()
    assert report.stuck
    # The lane has no thread left: who waited behind the hung one is handed back and pays nothing.
    assert await bench.endings() == [("PENDING", 1), ("PENDING", 0), ("PENDING", 0)]
    demand = await store.jobs.demand(None, None)
    assert len(demand.suspects) == 1
    detail = await store.reads.item((await bench.items())[0].id)
    assert detail.suspect


# ---- stops and control -------------------------------------------------------------------------


class Gate:
    """Handlers that wait until they are let through."""

    def __init__(self) -> None:
        self.running = 0
        self.open = asyncio.Event()
        self.crowded = asyncio.Event()

    async def handler(self, item: Item, ctx: object) -> dict[str, Any]:
        self.running += 1
        if self.running == 4:
            self.crowded.set()
        await self.open.wait()
        return {}


async def test_after_a_stop_running_items_finish_and_waiting_items_go_back(store: SqliteStore):
    gate = Gate()
    bench = Bench(store, gate.handler)
    engine = await bench.engine(10)
    slice_ = asyncio.ensure_future(engine.run_slice(SliceBudget()))
    await gate.crowded.wait()
    engine.stop()
    while (await store.reads.counts(bench.job.id)).pending != 6:
        await asyncio.wait([slice_], timeout=0.005)
    gate.open.set()
    report = await slice_
    assert (report.settled, report.refused) == (4, 0)
    assert await bench.endings() == [("DONE", 1)] * 4 + [("PENDING", 0)] * 6


async def test_after_a_second_stop_running_items_go_back(store: SqliteStore):
    gate = Gate()
    bench = Bench(store, gate.handler)
    engine = await bench.engine(10)
    slice_ = asyncio.ensure_future(engine.run_slice(SliceBudget()))
    await gate.crowded.wait()
    engine.stop_now()
    assert (await slice_).settled == 0
    assert await bench.endings() == [("PENDING", 0)] * 10
    history = await store.reads.attempts((await bench.items())[0].id)
    assert [attempt.outcome for attempt in history] == ["handed_back"]


async def test_a_slice_ends_with_its_budget(store: SqliteStore):
    gate = Gate()
    gate.open.set()
    bench = Bench(store, gate.handler)
    engine = await bench.engine(10)
    settled = 0
    while settled < 10:  # once more where the machine was too busy
        settled += (await engine.run_slice(SliceBudget(seconds=0.3))).settled


async def test_the_running_items_of_a_cancelled_job_are_stopped(store: SqliteStore):
    gate = Gate()
    bench = Bench(store, gate.handler)
    engine = await bench.engine(10)
    slice_ = asyncio.ensure_future(engine.run_slice(SliceBudget()))
    await gate.crowded.wait()
    await JobControl(store).cancel(bench.job.id)
    while bench.board.running():
        await asyncio.wait([slice_], timeout=0.005)
    engine.stop()
    report = await slice_
    assert (report.settled, gate.running) == (0, 4)
    assert await bench.endings() == [("CANCELLED", 0)] * 10


async def test_a_paused_job_returns_waiting_items_and_finishes_running_ones(store: SqliteStore):
    gate = Gate()
    bench = Bench(store, gate.handler)
    engine = await bench.engine(10)
    slice_ = asyncio.ensure_future(engine.run_slice(SliceBudget()))
    await gate.crowded.wait()
    await JobControl(store).pause(bench.job.id)
    while (await store.reads.counts(bench.job.id)).processing != 4:
        await asyncio.wait([slice_], timeout=0.005)
    gate.open.set()
    while (await store.reads.counts(bench.job.id)).done != 4:
        await asyncio.wait([slice_], timeout=0.005)
    engine.stop()
    await slice_
    assert gate.running == 4


async def test_a_service_that_fails_ends_the_slice_with_its_error(store: SqliteStore):
    class Broken(Exception):
        pass

    async def handler(item: Item, ctx: object) -> dict[str, Any]:
        return {}

    class FaultyItems:
        def __getattr__(self, name: str) -> Any:
            if name == "settle_many":
                raise Broken
            return getattr(store.items, name)

    bench = Bench(store, handler)
    engine = await bench.engine(1)
    engine._settler._sink = FaultyItems()
    with pytest.raises(Broken):
        await engine.run_slice(SliceBudget())
    assert bench.board.running() == []


async def test_every_attempt_passes_the_observer(store: SqliteStore):
    async def handler(item: Item, ctx: object) -> dict[str, Any]:
        return {"key": item.key}

    bench = Bench(store, handler)
    await bench.run(3)
    assert sorted(bench.observer.begun) == [1, 2, 3]
    assert [each.outcome for each in bench.observer.settlements] == ["done"] * 3
    rows = await store.reads.export_rows(bench.job.id, 0, 10)
    assert [msgspec.json.decode(str(row.result)) for row in rows] == [
        {"key": f"key-{n}"} for n in (1, 2, 3)
    ]


async def test_threads_left_by_a_cancelled_job_do_not_affect_other_jobs(
    store: SqliteStore,
):
    release = threading.Event()
    started = threading.Barrier(5)

    def handler(item: Item, ctx: Context) -> dict[str, Any]:
        if ctx.job.id == 1:
            started.wait(30)
            release.wait(30)
        return {}

    bench = Bench(store, handler)
    engine = await bench.engine(4)
    slice_ = asyncio.ensure_future(engine.run_slice(SliceBudget()))
    await asyncio.to_thread(started.wait, 30)
    other = await factories.job(store, 20)
    await JobControl(store).cancel(bench.job.id)
    # As many threads hang as there are lanes: the worker asks to be replaced.
    report = await asyncio.wait_for(slice_, 10)
    assert report.stuck
    release.set()
    assert await bench.endings() == [("CANCELLED", 0)] * 4
    rows = (await store.reads.items(ItemQuery(other.id))).items
    assert {(row.status, row.attempts) for row in rows} <= {
        (ItemStatus.DONE, 1),
        (ItemStatus.PENDING, 0),
    }


# ---- handlers that depend on their job ----------------------------------------------------------


async def test_a_handler_is_created_from_the_config_of_the_job(store: SqliteStore):
    def for_job(config: Mapping[str, Any]) -> HandlerSpec:
        return HandlerSpec("made", "test", lambda item, ctx: {"made for": dict(config)}, False)

    bench = Bench(store, lambda item, ctx: {}, for_job=for_job)
    await bench.run(1)
    (item,) = await bench.items()
    assert (await store.reads.item(item.id)).result == '{"made for":{}}'


async def test_a_config_that_is_invalid_makes_the_job_failed_with_the_reason(store: SqliteStore):
    def for_job(config: Mapping[str, Any]) -> HandlerSpec:
        raise UsageError("lookup: it needs a `request`")

    bench = Bench(store, lambda item, ctx: {}, for_job=for_job)
    report = await bench.run(3)
    assert report.settled == 0
    job = await store.reads.job(bench.job.id)
    assert (job.state, job.last_error) == (JobState.FAILED, "lookup: it needs a `request`")
    assert await bench.endings() == [("PENDING", 0)] * 3


# ---- where a handler failed ---------------------------------------------------------------------


async def traces(bench: Bench) -> list[Trace | None]:
    found = []
    for item in await bench.items():
        attempts = await bench.store.reads.attempts(item.id)
        found.append(trace_in(attempts[-1].trace))
    return found


async def async_bug(item: Item, ctx: Context) -> dict[str, Any]:
    return {"name": item.input["nick"]}


def plain_bug(item: Item, ctx: Context) -> dict[str, Any]:
    return {"name": item.input["nick"]}


async def pack_bug(items: list[Item], ctx: Context) -> list[dict[str, Any]]:
    return [{"name": item.input["nick"]} for item in items]


@pytest.mark.parametrize(
    ("handler", "options"), [(async_bug, {}), (plain_bug, {}), (pack_bug, {"pack": 2})]
)
async def test_an_attempt_that_failed_says_where(
    store: SqliteStore, handler: Callable[..., Any], options: dict[str, Any]
):
    bench = Bench(store, handler, **options)
    await bench.run(2)
    line = handler.__code__.co_firstlineno + 1
    for trace in await traces(bench):
        assert trace is not None
        assert trace.where.endswith(f"test_engine.py:{line}")
        assert "KeyError: 'nick'" in trace.text
        assert "headgate/engine" not in trace.text
    ended = bench.observer.settlements
    assert all(trace_in(settlement.trace) for settlement in ended)


async def test_an_attempt_that_ran_too_long_says_what_it_waited_for(store: SqliteStore):
    async def handler(item: Item, ctx: Context) -> None:
        await asyncio.Event().wait()

    bench = Bench(store, handler, timeout_s=0.05)
    await bench.run(1, retry=RetryPolicy(max_attempts_error=1))
    (trace,) = await traces(bench)
    assert trace is not None
    assert "await asyncio.Event().wait()" in trace.text


async def test_an_attempt_that_did_not_fail_has_no_trace(store: SqliteStore):
    async def handler(item: Item, ctx: Context) -> NotFound | dict[str, Any]:
        return NotFound("nothing") if item.input["n"] == 1 else {}

    bench = Bench(store, handler)
    await bench.run(2)
    assert await traces(bench) == [None, None]
