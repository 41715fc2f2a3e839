"""The ledger goes away, a process freezes with its share in hand, clocks disagree."""

import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from headgate.core.provider import ProviderPolicy
from headgate.core.status import ItemStatus
from headgate.engine.gates.sync import LedgerSync
from tests.faults.conftest import SETTINGS
from tests.kit import faketime, service
from tests.kit.answers import Answer, Bucket, refusal
from tests.kit.command import Command, until
from tests.kit.fleet import Fleet, fleet
from tests.kit.postgres import PostgresMissing, PostgresServer, skip_or_fail
from tests.kit.project import Project
from tests.kit.provider import Provider, Seen
from tests.kit.redis import RedisServer

HANDLERS = Path(__file__).with_name("fetching.py")
PER_S = 20
RATE = {"providers__api__rate": f"{PER_S}/s"}
HASTY = {"claim__lock_floor_s": 1, "worker__heartbeat_s": 0.2, "claim__claim_max": 8}


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


def busiest(seen: list[Seen], window_s: float) -> int:
    """The most requests that arrived within any such window."""
    arrived = sorted(each.arrived_s for each in seen)
    return max(sum(at <= other < at + window_s for other in arrived) for at in arrived)


def assert_each_done_once(project: Project, count: int) -> None:
    items = project.assert_finished(count)
    assert {(item.status, item.attempts) for item in items} == {(ItemStatus.DONE, 1)}


# ---- the ledger is restarted, in order and by a kill -------------------------------------------

Restart = Callable[[], None]


@pytest.fixture(params=[pytest.param("postgres", marks=pytest.mark.postgres), "redis", "forgetful"])
def served(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[Project, list[Restart]]]:
    """A project whose ledger is on a server of its own, and two ways to restart that server."""
    if request.param == "postgres":
        try:
            database = PostgresServer(durable=True)
        except PostgresMissing as missing:
            skip_or_fail(missing)
        with database:
            project = Project(tmp_path, database.url(database.create_database()), SETTINGS)
            yield project, [database.restart, lambda: database.restart("immediate")]
        return
    service.need(RedisServer.program)
    with RedisServer(durable=request.param == "redis") as redis:
        ledger = {"gates__ledger": redis.url()}
        project = Project(tmp_path, f"sqlite:///{tmp_path}/headgate.db", {**SETTINGS, **ledger})
        yield project, [redis.restart, lambda: redis.restart(signal.SIGKILL)]


def test_restarts_of_the_ledger_neither_stop_nor_flood(
    served: tuple[Project, list[Restart]], provider: Provider
):
    """Also of one that forgets everything: then it is learned again."""
    project, restarts = served
    file = project.rows(120)
    words = project.batch(f"{HANDLERS}:fetch", file, "--processes", "2", url=provider.url(""))
    with project.start(*words, **RATE) as command:
        for moment, restart in zip((30, 70), restarts, strict=True):
            until(lambda m=moment: len(provider.seen) >= m or not command.running)
            assert command.running, command.talk
            restart()
        ended = command.wait()
    assert ended.code == 0, ended.err
    assert "Traceback" not in ended.err
    assert_each_done_once(project, 120)
    assert len(provider.seen) == 120
    # Two processes that find each other a second late send twice the rate for that second.
    assert busiest(provider.seen, 2.0) <= 1.6 * PER_S * 2


async def test_a_ledger_that_is_away_slows_down_but_stops_no_worker(tmp_path: Path):
    async with fleet(tmp_path, 2, lanes=8) as running:
        running.script = Bucket(20, 5, time_s=running.time)
        await running.run(20)
        for process in running.processes:
            process.ledger.gone = True
        await running.run(30)
        by_process = Counter(each.process for each in running.arrivals(30, 50))
        assert min(by_process[0], by_process[1]) > 50
        assert running.refused(20, 50) <= 10  # what is called clean of any run
        for process in running.processes:
            process.ledger.gone = False
        await running.run(20)
    assert running.refused(50) <= 8
    assert running.delivered(60, 70) > 12.0


async def test_an_unexpected_error_stops_no_gate(tmp_path: Path):
    """It ends the task that keeps a process and its ledger agreed, which is begun again."""
    async with fleet(tmp_path, 2, lanes=8) as running:
        running.script = Bucket(20, 5, time_s=running.time)
        await running.run(20)
        for process in running.processes:
            process.ledger.errors = [ValueError("a reply that makes no sense")]
        await running.run(30)
        assert not any(process.ledger.errors for process in running.processes)
        assert running.delivered(35, 50) > 12.0


async def test_a_ledger_that_goes_while_a_gate_is_stopped_stops_no_worker_for_good(tmp_path: Path):
    async with fleet(tmp_path, 2, lanes=8) as running:
        limit = Bucket(20, 5, time_s=running.time)
        running.script = limit
        await running.run(15)
        running.script = lambda _: refusal()
        await running.run(0.3)
        for process in running.processes:
            process.ledger.gone = True
        running.script = limit
        await running.run(30)
    assert running.delivered(30, 45) > 1.0


def test_a_closed_gate_is_still_closed_after_a_kill(project: Project, provider: Provider):
    """All processes are killed the moment after; the next command knows when it may ask again."""
    words = project.batch(f"{HANDLERS}:fetch", project.rows(12), url=provider.url(""))
    provider.script = lambda _: refusal("6")
    with project.start(*words) as killed:
        until(lambda: any(each.status == 429 for each in provider.seen), what="a refusal")
        until(lambda: is_closed(project), what="the ledger to know of it")
        killed.kill()
    refused_s = max(each.ended_s for each in provider.seen)
    provider.script = lambda _: Answer(200, body=b"hello")
    before = len(provider.seen)
    ended = project.run(*words, **HASTY)
    assert ended.code == 0, ended.err
    assert_each_done_once(project, 12)
    assert min(each.arrived_s for each in provider.seen[before:]) >= refused_s + 5.5


def is_closed(project: Project) -> bool:
    entries = project.ask(lambda store: store.limits.entries())
    return any('"told_s":6' in entry.state for entry in entries)


# ---- one of four stands still with its share in its hand ---------------------------------------


@pytest.fixture(autouse=True)
def no_ledger_is_lost_to_a_busy_machine(monkeypatch: pytest.MonkeyPatch):
    """In virtual time a ledger answers at once, however long that takes."""
    monkeypatch.setattr(LedgerSync, "PATIENCE_S", 60.0)


async def one_frozen(running: Fleet) -> None:
    await running.run(12)
    running.processes[0].clock.freeze()
    await running.run(15)
    running.processes[0].clock.thaw()
    await running.run(10)


async def test_the_tokens_of_a_frozen_process_go_to_the_others(tmp_path: Path):
    async with fleet(tmp_path, lanes=8, policy=ProviderPolicy(rate=f"{PER_S}/s")) as running:
        await one_frozen(running)
    assert running.delivered(8, 12) == pytest.approx(PER_S, rel=0.1)
    assert running.delivered(16, 27) == pytest.approx(PER_S, rel=0.1)  # four seconds later
    assert running.delivered(30, 37) == pytest.approx(PER_S, rel=0.1)
    served = Counter(each.process for each in running.arrivals(30, 37))
    assert min(served.values()) > 0.7 * max(served.values())


async def test_a_process_that_wakes_up_does_not_break_the_limit(tmp_path: Path):
    async with fleet(tmp_path, lanes=8, policy=ProviderPolicy(rate=f"{PER_S}/s")) as running:
        await one_frozen(running)
    assert running.busiest(1.0, 10.0) <= 1.15 * PER_S


async def test_the_places_of_a_frozen_process_go_to_the_others(tmp_path: Path):
    policy = ProviderPolicy(concurrency=8)
    async with fleet(tmp_path, lanes=8, policy=policy) as running:
        running.script = lambda _: Answer(200, delay_s=0.3)
        await one_frozen(running)
    assert max(each.in_flight for each in running.seen) == 8
    assert max(each.in_flight for each in running.arrivals(17, 27)) >= 6
    assert max(each.in_flight for each in running.arrivals(27)) <= 8


async def test_the_share_of_a_finished_process_goes_to_the_others(tmp_path: Path):
    """Three of four run out of work; the fourth alone then uses all that the cap allows."""
    async with fleet(tmp_path, lanes=6, policy=ProviderPolicy(concurrency=3)) as running:
        running.script = lambda _: Answer(200, delay_s=0.2)
        await running.run(8)
        assert {each.process for each in running.seen} == {0, 1, 2, 3}
        for process in running.processes[1:]:
            process.retire()
        await running.run(10)
    assert {each.process for each in running.arrivals(14)} == {0}
    assert max(each.in_flight for each in running.arrivals(14)) == 3


def start_workers(
    project: Project, stack: ExitStack, words: list[str], count: int
) -> list[Command]:
    settings = {**RATE, **HASTY, "worker__concurrency": 4}
    first = stack.enter_context(project.start(*words, **settings))
    until(project.jobs, what="a job")
    drain = [project.start("worker", "--drain", **settings) for _ in range(count - 1)]
    return [first, *map(stack.enter_context, drain)]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres), "redis"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    """A project on every ledger."""
    url = f"sqlite:///{tmp_path}/headgate.db"
    settings = dict(SETTINGS)
    if request.param == "postgres":
        url = request.getfixturevalue("postgres_url")
    elif request.param == "redis":
        redis: RedisServer = request.getfixturevalue("redis_server")
        redis.empty()
        settings["gates__ledger"] = redis.url()
    return Project(tmp_path, url, settings)


def test_a_frozen_worker_delays_no_other_and_breaks_no_limit(shared: Project, provider: Provider):
    """Four commands on one limit; one is stopped in mid-run, and goes on when the rest is done."""
    project = shared
    words = project.batch(f"{HANDLERS}:fetch", project.rows(160), url=provider.url(""))
    with ExitStack() as stack:
        frozen, *others = start_workers(project, stack, words, 4)
        until(lambda: len(provider.seen) >= 40, what="requests of all")
        project.freeze(frozen)
        seen = len(provider.seen)
        until(lambda: len(provider.seen) >= seen + 60, what="the others to go on")
        frozen.wake()
        endings = [command.wait() for command in (frozen, *others)]
    talk = "\n".join(ended.err for ended in endings)
    assert [ended.code for ended in endings] == [0] * 4, talk
    items = project.assert_finished(160)
    assert {item.status for item in items} == {ItemStatus.DONE}
    # Until they know of each other, and for a moment after one came back, each has its own part.
    assert busiest(provider.seen, 1.0) <= 2 * PER_S


# ---- clocks that disagree ----------------------------------------------------------------------


async def test_half_a_minute_between_two_clocks_changes_nothing(tmp_path: Path):
    policy = ProviderPolicy(rate=f"{PER_S}/s")
    async with fleet(tmp_path, 2, lanes=8, policy=policy, wrong_by_s={1: 30.0}) as running:
        await running.run(15)
        assert running.delivered(5, 15) == pytest.approx(PER_S, rel=0.1)
        assert running.busiest(1.0, 5.0) <= 1.15 * PER_S
        served = Counter(each.process for each in running.arrivals(5, 15))
        assert min(served.values()) > 0.8 * max(served.values())
        running.script = lambda _: refusal("5")
        await running.run(0.5)
        running.script = lambda _: Answer(200)
        closed = len(running.seen)
        await running.run(4)
        assert len(running.seen) == closed  # for both
        await running.run(10)
    assert set(Counter(each.process for each in running.arrivals(24))) == {0, 1}


@pytest.fixture
def adjustable(shared: Project) -> Project:
    """A project whose commands believe what FAKETIME says about the time of day."""
    faketime.preload(shared.environment)
    return shared


def test_two_workers_half_a_minute_apart_keep_one_limit(adjustable: Project, provider: Provider):
    project = adjustable
    words = project.batch(f"{HANDLERS}:fetch", project.rows(100), url=provider.url(""))
    settings = {**RATE, **HASTY, "worker__concurrency": 4}
    with ExitStack() as stack:
        project.environment["FAKETIME"] = "+0"
        first = stack.enter_context(project.start(*words, **settings))
        until(project.jobs, what="a job")
        project.environment["FAKETIME"] = "+30"
        second = stack.enter_context(project.start("worker", "--drain", **settings))
        endings = [first.wait(), second.wait()]
    talk = "\n".join(ended.err for ended in endings)
    assert [ended.code for ended in endings] == [0, 0], talk
    assert_each_done_once(project, 100)
    assert len(provider.seen) == 100
    assert busiest(provider.seen, 1.0) <= 1.6 * PER_S
