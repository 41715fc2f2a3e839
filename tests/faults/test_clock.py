"""The wall clock jumps by an hour: no lease is lost, no item runs twice, no page lacks a row."""

import os
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from headgate.core.item import NewItem
from headgate.core.job import Job, NewJob
from headgate.core.paging import SortOrder
from headgate.core.retry import RetryDecision
from headgate.core.settlement import settle
from headgate.core.status import ItemStatus
from headgate.core.worker import WorkerInfo, WorkerRow
from headgate.engine.process import process_name
from headgate.engine.sweeper import Sweeper
from headgate.ports.items import ClaimRequest, EnqueueRequest, SettleRequest
from headgate.ports.reads import ItemQuery, ItemRow
from headgate.ports.store import Store
from headgate.stores.sqlite.store import SqliteStore
from headgate.testing import FakeClock
from tests.kit import faketime
from tests.kit.command import Command, until
from tests.kit.observer import SpyObserver
from tests.kit.project import Project

HANDLERS = Path(__file__).with_name("handlers.py")
SECOND = 1_000_000
HOUR = 3_600 * SECOND
START = 1_800_000_000 * SECOND
JUMPS = pytest.mark.parametrize("jump", [HOUR, -HOUR], ids=["forwards", "backwards"])


class Wall:
    """A wall clock that two stores share, but for the jump that one of them has made."""

    def __init__(self, ahead: int = 0, follows: "Wall | None" = None) -> None:
        self._now = START
        self._ahead = ahead
        self._follows = follows

    def __call__(self) -> int:
        self._now += 1
        return (self._follows() if self._follows else self._now) + self._ahead

    def tick(self, seconds: float) -> None:
        self._now += int(seconds * SECOND)


@pytest.fixture
def wall() -> Wall:
    return Wall()


@pytest.fixture
def here(tmp_path: Path, wall: Wall) -> SqliteStore:
    return SqliteStore(tmp_path / "headgate.db", now=wall)


def there(tmp_path: Path, wall: Wall, jump: int) -> SqliteStore:
    """The same file, opened by a process whose wall clock was set."""
    return SqliteStore(tmp_path / "headgate.db", now=Wall(jump, wall))


async def a_job(store: Store, count: int) -> Job:
    job = await store.jobs.create_job(NewJob("price", "products.csv"))
    items = [NewItem(str(n), "{}", n) for n in range(1, count + 1)]
    await store.items.enqueue_many(EnqueueRequest(job.id, items, "end", ""))
    return await store.jobs.complete_ingest(job.id, ())


async def a_worker(store: Store, name: str) -> str:
    """This very process, which is alive."""
    me = process_name(os.getpid())
    info = WorkerInfo(name, "s", me.host, me.boot_id, me.pid, me.started_ticks, "0", 10.0)
    await store.jobs.register(info)
    return name


async def work_on(
    store: Store, worker: str, job: Job, count: int, verdict: RetryDecision
) -> list[int]:
    """Claim and settle a number of items; their ids in the order of their settlement."""
    claimed = await store.items.claim(ClaimRequest(worker, job.id, count, 600.0))
    for item in claimed:
        result = "{}" if verdict.status is ItemStatus.DONE else None
        report = await store.items.settle_many(
            SettleRequest(worker, [settle(item, verdict, result)])
        )
        assert report.refused == []
    return [item.id for item in claimed]


async def all_pages(store: Store, job: Job) -> list[ItemRow]:
    seen: list[ItemRow] = []
    after: str | None = None
    while True:
        query = ItemQuery(job.id, order=SortOrder.UPDATED, after=after, limit=7)
        page = await store.reads.items(query)
        seen += page.items
        after = page.next
        if after is None:
            return seen


DONE = RetryDecision(ItemStatus.DONE, "done")
LATER = RetryDecision(ItemStatus.PENDING, "retry", failed=True, due_in_us=30 * SECOND)


@JUMPS
async def test_stamps_grow_over_all_processes(
    tmp_path: Path, wall: Wall, here: SqliteStore, jump: int
):
    async with here, there(tmp_path, wall, jump) as other:
        job = await a_job(here, 40)
        workers = [await a_worker(here, "here"), await a_worker(other, "there")]
        order: list[int] = []
        for turn in range(20):
            store = (here, other)[turn % 2]
            order += await work_on(store, workers[turn % 2], job, 2, DONE)
        wall.tick(5)
        rows = await all_pages(here, job)
    assert [row.id for row in rows] == order
    stamps = [row.updated_at for row in rows]
    assert stamps == sorted(set(stamps))


@JUMPS
@pytest.mark.parametrize("read_only", [True, False])
async def test_no_page_misses_a_row(
    tmp_path: Path, wall: Wall, here: SqliteStore, jump: int, read_only: bool
):
    """Also for a process that has only ever read, and so was never told the store's time."""
    async with here, there(tmp_path, wall, jump) as other:
        job = await a_job(here, 40)
        await work_on(here, await a_worker(here, "here"), job, 20, DONE)
        if not read_only:
            await work_on(other, await a_worker(other, "there"), job, 10, DONE)
        for store in (here, other):
            await all_pages(store, job)  # which leaves out what changed in the last two seconds
        wall.tick(5)
        for store in (here, other):
            rows = await all_pages(store, job)
            assert {row.id for row in rows} == set(range(1, 41))


@JUMPS
async def test_due_times_continue_ticking(tmp_path: Path, wall: Wall, here: SqliteStore, jump: int):
    """What was put off for thirty seconds by one process is due for all of them soon after."""
    async with here, there(tmp_path, wall, jump) as other:
        job = await a_job(here, 1)
        put_off_by, worker = (other, "there") if jump > 0 else (here, "here")
        await work_on(put_off_by, await a_worker(put_off_by, worker), job, 1, LATER)
        looking = here if put_off_by is other else other
        request = ClaimRequest(await a_worker(looking, "looking"), job.id, 1, 600.0)
        assert await looking.items.claim(request) == []
        wall.tick(29)
        assert await looking.items.claim(request) == []
        demand = await looking.jobs.demand(None, None)
        assert demand.next_due_in_s == pytest.approx(1.0, abs=0.1)
        wall.tick(2)
        assert len(await looking.items.claim(request)) == 1


@JUMPS
async def test_a_live_lease_is_kept(tmp_path: Path, wall: Wall, here: SqliteStore, jump: int):
    """A lease of ten minutes looks long overdue to one whose clock is an hour ahead."""
    clock = FakeClock()
    async with here, there(tmp_path, wall, jump) as other:
        job = await a_job(here, 5)
        worker = await a_worker(here, "here")
        claimed = await here.items.claim(ClaimRequest(worker, job.id, 5, 600.0))
        await a_worker(other, "there")  # makes the store's time jump
        sweeper = Sweeper(other, clock, SpyObserver(), "there")
        for _ in range(59):
            assert await sweeper.run_once(frozenset({"there"})) == 0
            await here.jobs.beat({worker: 1}, 10.0)
            await clock.advance(10)
            wall.tick(10)
        done = [settle(item, DONE, "{}") for item in claimed]
        assert (await here.items.settle_many(SettleRequest(worker, done))).refused == []


async def test_a_lease_that_outlives_its_deadline_ends(
    tmp_path: Path, wall: Wall, here: SqliteStore
):
    """The worker beats, but has forgotten the item: no other worker would ever run it."""
    clock = FakeClock()
    async with here:
        job = await a_job(here, 5)
        worker = await a_worker(here, "here")
        await here.items.claim(ClaimRequest(worker, job.id, 5, 60.0))
        sweeper = Sweeper(here, clock, SpyObserver(), "there")
        returned = 0
        for _ in range(14):
            returned += await sweeper.run_once(frozenset())
            await here.jobs.beat({worker: 1}, 10.0)
            await clock.advance(10)
            wall.tick(10)
        assert returned == 5
        assert (await here.reads.counts(job.id)).pending == 5


# ---- real processes ----------------------------------------------------------------------------


@pytest.fixture
def adjustable(project: Project) -> Project:
    """A project whose commands believe what FAKETIME says about the time of day."""
    faketime.preload(project.environment)
    return project


def test_commands_that_disagree_by_hours_work_together(adjustable: Project):
    """As if the clock had been set between the starts of three commands on one store."""
    project = adjustable
    file = project.rows(600)
    hasty = {"claim__lock_floor_s": 1, "worker__heartbeat_s": 0.2, "claim__claim_max": 16}
    # Long enough that there is work left when the last of them has started.
    words = project.batch(f"{HANDLERS}:awaited", file, "--concurrency", "4", pause=0.1)
    with ExitStack() as stack:
        commands: list[Command] = []
        for ahead, command in (
            ("+0", words),
            ("+3600", ["worker", "--drain", "--concurrency", "4"]),
            ("-3600", ["worker", "--drain", "--concurrency", "4"]),
        ):
            project.environment["FAKETIME"] = ahead
            commands.append(stack.enter_context(project.start(*command, **hasty)))
            until(lambda: len(project.ask(everybody)) == len(commands), what="its worker")
            until(lambda: project.executed() >= 50, what="work to have begun")
        endings = [command.wait() for command in commands]

    talk = "\n".join(ended.err for ended in endings)
    assert [ended.code for ended in endings] == [0, 0, 0], talk
    items = project.assert_finished(600)
    assert {(item.status, item.attempts) for item in items} == {(ItemStatus.DONE, 1)}
    assert project.executions() == Counter(item.key for item in items)
    assert project.events("discarded") == []
    assert project.events("rescued") == []
    stamps = [row.registered_at for row in project.ask(everybody)]
    # On a file the clocks of the commands were really hours apart; a server has one of its own.
    assert (max(stamps) - min(stamps) > HOUR // 2) == project.url.startswith("sqlite")


async def everybody(store: Store) -> list[WorkerRow]:
    return await store.reads.workers(alive_only=False)
