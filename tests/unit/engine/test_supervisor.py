"""The supervisor starts workers, beats for them and buries them, without running a handler."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from random import Random

import pytest

from headgate.core.errors import StoreFull, StoreUnreachable, WorkerFailed
from headgate.core.fault import FaultClass
from headgate.core.retry import FINISHED
from headgate.core.settlement import settle
from headgate.core.status import ItemStatus, JobMove, JobState
from headgate.core.worker import WorkerInfo
from headgate.engine.engine import Policies
from headgate.engine.policy import WorkerPolicy
from headgate.engine.supervisor import RunReport, Supervisor, Work
from headgate.ports.items import ClaimRequest, SettleRequest
from headgate.ports.launcher import WorkerOrder, WorkerReport
from headgate.ports.reads import EventQuery, ItemQuery
from headgate.stores.sqlite.store import SqliteStore
from headgate.testing import FakeClock
from tests.kit import factories
from tests.kit.observer import SpyObserver
from tests.kit.processes import FakeLauncher, FakeProcess

READY = WorkerReport(ready=True)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


class Watch:
    """A supervisor over scripted processes, on a clock that we wind."""

    def __init__(
        self,
        store: SqliteStore,
        script: Callable[[WorkerOrder, FakeProcess], None],
        policy: WorkerPolicy | None = None,
        slow_start_s: float = 0.0,
    ) -> None:
        self.store = store
        self.slow_start_s = slow_start_s
        self.clock = FakeClock()
        self.launcher = FakeLauncher(script)
        self.observer = SpyObserver()
        policies = Policies(worker=policy or WorkerPolicy())
        self.supervisor = Supervisor(
            store, self.launcher, self.clock, self.observer, policies, Random(1)
        )
        self._task: asyncio.Task[RunReport] | None = None
        self._registered = 0

    @property
    def processes(self) -> list[FakeProcess]:
        return self.launcher.processes

    def begin(self, **work: object) -> None:
        self._task = asyncio.ensure_future(self.supervisor.run(Work(**work)))  # type: ignore[arg-type]

    async def turn(self, seconds: float = Supervisor.TICK_S) -> None:
        """Let time pass, tick by tick, and each tick come to its end."""
        assert self._task is not None
        for _ in range(max(round(seconds / Supervisor.TICK_S), 1)):
            asleep = asyncio.ensure_future(self.clock.until_asleep())
            await asyncio.wait([asleep, self._task], return_when=asyncio.FIRST_COMPLETED)
            asleep.cancel()
            if self._task.done():
                return
            await self._register_new()
            await self.clock.advance(Supervisor.TICK_S)

    async def _register_new(self) -> None:
        """Every process registers, as a real one does before it says that it is ready."""
        if self.clock.monotonic() < self.slow_start_s:
            return
        for order in self.launcher.orders[self._registered :]:
            info = WorkerInfo(order.worker, order.session, "elsewhere", "boot", 1, 1, "0", 10.0)
            await self.store.jobs.register(info)
            self.processes[self._registered].say(READY)
            self._registered += 1

    async def end(self, seconds: float = 60.0) -> RunReport:
        assert self._task is not None
        await self.turn(seconds)
        return await asyncio.wait_for(self._task, 60.0)


def obedient(order: WorkerOrder, process: FakeProcess) -> None:
    """Ends when told to."""
    told = process.stop

    def stop(*, now: bool) -> None:
        told(now=now)
        process.code = 0

    process.stop = stop  # type: ignore[method-assign]


def ignores_stop(order: WorkerOrder, process: FakeProcess) -> None:
    """Does not listen."""


async def test_a_drain_ends_when_no_item_is_open_and_makes_the_job_done(store: SqliteStore):
    job = await factories.job(store, 2)
    watch = Watch(store, obedient)
    watch.begin(jobs=(job.id,), drain=True)
    await watch.turn()
    [order] = watch.launcher.orders
    items = await factories.claim(store, job.id, order.worker)
    await watch.turn(1.0)
    assert watch.processes[0].stops == []
    done = [settle(item, FINISHED, "{}") for item in items]
    await store.items.settle_many(SettleRequest(order.worker, done))
    report = await watch.end()
    assert watch.processes[0].stops == [False]
    assert (report.interrupted, report.stalled, report.crashes) == (False, False, 0)
    assert (await store.reads.job(job.id)).state is JobState.DONE


async def test_a_drain_waits_until_the_source_is_read(store: SqliteStore):
    job = await store.jobs.create_job(factories.NewJob("price", "rows.csv", eager=True))
    watch = Watch(store, obedient)
    watch.begin(jobs=(job.id,), drain=True)
    await watch.turn(2.0)
    assert watch.processes[0].stops == []
    await store.jobs.complete_ingest(job.id, ())
    await watch.end()
    assert watch.processes[0].stops == [False]


async def test_a_worker_that_is_asked_to_drain_ends_and_is_not_replaced(store: SqliteStore):
    job = await factories.job(store, 1)
    watch = Watch(store, obedient, WorkerPolicy(processes=2))
    watch.begin(jobs=(job.id,))
    await watch.turn(2.0)
    first, second = watch.launcher.orders
    assert await store.jobs.ask_drain(first.worker)
    [asked] = [row for row in await store.reads.workers() if row.draining]
    assert asked.id == first.worker
    await watch.turn(3.0)
    assert [process.stops for process in watch.processes] == [[False], []]
    assert [row.id for row in await store.reads.workers()] == [second.worker]
    assert not await store.jobs.ask_drain(first.worker)
    watch.supervisor.stop()
    await watch.end()


async def test_the_concurrency_is_shared_among_the_processes(store: SqliteStore):
    job = await factories.job(store, 1)
    watch = Watch(store, obedient, WorkerPolicy(concurrency=7, processes=3))
    watch.begin(jobs=(job.id,))
    await watch.turn()
    assert [order.concurrency for order in watch.launcher.orders] == [2, 2, 2]
    watch.supervisor.stop()
    await watch.end()


async def test_a_dead_worker_is_replaced_and_its_running_items_become_suspects(store: SqliteStore):
    job = await factories.job(store, 3)
    watch = Watch(store, obedient, WorkerPolicy(alone_processes=1))
    watch.begin(jobs=(job.id,))
    await watch.turn()
    [order] = watch.launcher.orders
    first, *_ = await factories.claim(store, job.id, order.worker)
    board = watch.processes[0].board
    assert board is not None
    board.start(first.id, first.epoch, 0.0, 600.0)
    watch.processes[0].code = -11
    await watch.turn(1.0)
    assert [each.alone for each in watch.launcher.orders] == [False, False, True]
    rows = (await store.reads.items(ItemQuery(job.id))).items
    assert [(row.status, row.crashes) for row in rows] == [
        (ItemStatus.PENDING, 1),
        (ItemStatus.PENDING, 0),
        (ItemStatus.PENDING, 0),
    ]
    assert watch.processes[0].closed
    events = await store.reads.events(EventQuery(job.id))
    (told,) = (event.message for event in events if event.kind == "worker_crashed")
    assert told.startswith("a worker process crashed (killed by SIGSEGV) while it ran row key-1;")
    assert told.endswith(" row key-1 runs alone next")
    watch.supervisor.stop()
    assert (await watch.end()).crashes == 1


async def test_suspects_of_a_paused_job_start_no_process(store: SqliteStore):
    job = await factories.job(store, 1)
    order = await factories.worker(store)
    [item] = await store.items.claim(ClaimRequest(order, job.id, 1, 60.0))
    crashed = settle(item, factories.RetryDecision(ItemStatus.PENDING, "crashed", alone=True))
    await store.items.settle_many(SettleRequest(order, [crashed]))
    await store.jobs.move_job(job.id, JobMove.PAUSE)
    watch = Watch(store, obedient)
    watch.begin(jobs=(job.id,))
    await watch.turn(1.0)
    assert [each.alone for each in watch.launcher.orders] == [False]
    await store.jobs.move_job(job.id, JobMove.RESUME)
    await watch.turn(1.0)
    assert [each.alone for each in watch.launcher.orders][:2] == [False, True]
    watch.supervisor.stop()
    await watch.end()


@pytest.mark.parametrize("ready", [False, True])
async def test_the_run_ends_if_workers_die_before_they_finish_an_item(
    store: SqliteStore, ready: bool
):
    def broken(order: WorkerOrder, process: FakeProcess) -> None:
        process.say(WorkerReport(ready=ready))
        process.say(WorkerReport(error="ImportError: no module", error_kind="ImportError"))
        process.code = 1

    job = await factories.job(store, 1)
    watch = Watch(store, broken)
    watch.begin(jobs=(job.id,), drain=True)
    with pytest.raises(WorkerFailed, match="no module"):
        await watch.end()
    assert len(watch.processes) == Supervisor.FALSE_STARTS


async def test_a_worker_that_was_killed_from_outside_is_not_a_false_start(store: SqliteStore):
    def killed(order: WorkerOrder, process: FakeProcess) -> None:
        if len(watch.processes) <= 5:
            process.say(READY)
            process.code = -9
        else:
            obedient(order, process)

    job = await factories.job(store, 1)
    watch = Watch(store, killed)
    watch.begin(jobs=(job.id,))
    await watch.turn(5.0)
    assert len(watch.processes) == 6
    watch.supervisor.stop()
    assert (await watch.end()).crashes == 5


@pytest.mark.parametrize("kind", [StoreFull, StoreUnreachable])
async def test_an_error_that_a_worker_cannot_fix_is_raised_unchanged(
    store: SqliteStore, kind: type[Exception]
):
    def failing(order: WorkerOrder, process: FakeProcess) -> None:
        process.say(READY)
        process.say(WorkerReport(error="make space", error_kind=kind.__name__))
        process.code = 1

    job = await factories.job(store, 1)
    watch = Watch(store, failing)
    watch.begin(jobs=(job.id,))
    with pytest.raises(kind, match="make space"):
        await watch.end()


async def test_the_first_stop_lets_workers_finish_and_the_second_kills_them_soon(
    store: SqliteStore,
):
    job = await factories.job(store, 1)
    watch = Watch(store, ignores_stop)
    watch.begin(jobs=(job.id,))
    await watch.turn()
    [process] = watch.processes
    watch.supervisor.stop()
    await watch.turn(5.0)
    assert (process.stops, process.code) == ([False], None)
    watch.supervisor.stop()
    await watch.turn(Supervisor.PATIENCE_S - 0.5)
    assert (process.stops, process.code) == ([False, True], None)
    report = await watch.end()
    assert process.code == -9
    assert report.interrupted


async def test_a_worker_that_takes_too_long_to_finish_is_hurried(store: SqliteStore):
    job = await factories.job(store, 1)
    watch = Watch(store, ignores_stop, WorkerPolicy(shutdown_s=3.0))
    watch.begin(jobs=(job.id,))
    await watch.turn()
    watch.supervisor.stop()
    await watch.turn(2.5)
    assert watch.processes[0].stops == [False]
    await watch.turn(1.0)
    assert watch.processes[0].stops == [False, True]
    await watch.end()


async def test_a_run_without_progress_is_stalled(store: SqliteStore):
    job = await factories.job(store, 1)
    watch = Watch(store, obedient)
    watch.begin(jobs=(job.id,), drain=True, max_stall_s=10.0)
    await watch.turn(9.0)
    board = watch.processes[0].board
    assert board is not None
    board.committed(1, 1.0, 10.0)  # progress, which starts the patience again
    await watch.turn(9.0)
    assert watch.processes[0].stops == []
    report = await watch.end()
    assert (report.stalled, report.interrupted, report.settled) == (True, False, 1)


async def test_the_time_that_a_worker_takes_to_start_is_not_a_stall(store: SqliteStore):
    job = await factories.job(store, 1)
    watch = Watch(store, obedient, slow_start_s=30.0)
    watch.begin(jobs=(job.id,), drain=True, max_stall_s=1.0)
    await watch.turn(30.0)
    assert watch.processes[0].stops == []
    await watch.turn(0.5)  # it is there, and has had half of its second
    board = watch.processes[0].board
    assert board is not None
    board.claimed(2.0, 1)  # the first item: from now on it has a second to settle something
    await watch.turn(0.9)
    assert watch.processes[0].stops == []
    report = await watch.end()
    assert (report.stalled, report.settled) == (True, 0)


async def test_a_worker_that_never_starts_is_a_stall(store: SqliteStore):
    job = await factories.job(store, 1)
    watch = Watch(store, obedient, slow_start_s=1_000.0)
    watch.begin(jobs=(job.id,), drain=True, max_stall_s=1.0)
    await watch.turn(Supervisor.START_S - 1)
    assert watch.processes[0].stops == []
    assert (await watch.end()).stalled


async def test_a_run_ends_with_its_budget(store: SqliteStore):
    job = await factories.job(store, 1)
    watch = Watch(store, obedient)
    watch.begin(jobs=(job.id,), budget_s=3.0)
    await watch.turn(2.5)
    assert watch.processes[0].stops == []
    await watch.end()
    assert watch.processes[0].stops == [False]


async def test_a_worker_sends_heartbeats_while_it_lives_and_is_ended_when_it_is_lost(
    store: SqliteStore,
):
    job = await factories.job(store, 1)
    watch = Watch(store, obedient)
    watch.begin(jobs=(job.id,))
    await watch.turn()
    [order] = watch.launcher.orders
    await watch.turn(3.0)
    [row] = await store.reads.workers()
    assert row.beat >= 2
    await store.jobs.retire(order.worker, "somebody thought it dead")
    await watch.turn(2.0)
    assert watch.processes[0].code == -9
    assert len(watch.processes) == 2
    assert "worker_lost" in {change.what for change in watch.observer.changes}
    watch.supervisor.stop()
    await watch.end()


async def test_a_suspect_that_hangs_loses_its_process_and_an_attempt(store: SqliteStore):
    job = await factories.job(store, 1)
    watch = Watch(store, obedient, WorkerPolicy(grace_s=1.0))
    watch.begin(jobs=(job.id,))
    await watch.turn()
    [order] = watch.launcher.orders
    [item] = await factories.claim(store, job.id, order.worker)
    board = watch.processes[0].board
    assert board is not None
    board.start(item.id, item.epoch, watch.clock.monotonic(), 5.0)
    await watch.turn(5.5)
    assert watch.processes[0].code is None
    await watch.turn(1.0)
    assert watch.processes[0].code == -9
    [row] = (await store.reads.items(ItemQuery(job.id))).items
    assert (row.attempts, row.error_class) == (1, FaultClass.TIMEOUT)
    watch.supervisor.stop()
    await watch.end()
