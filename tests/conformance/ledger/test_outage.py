"""The server goes down and returns, and answers are lost. Accepted changes are stored once."""

import asyncio
import signal
from contextlib import suppress

import psycopg
import pytest
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from headgate.core.errors import StoreError, StoreFull, StoreUnreachable, UsageError
from headgate.ports.limits import LedgerEntry, Proposal
from headgate.stores.postgres import PostgresStore
from headgate.stores.redis import RedisLimits
from headgate.stores.redis.connection import RedisConnection
from tests.kit import service
from tests.kit.ledgers import LedgerPlace, increment, look
from tests.kit.ports import free_port
from tests.kit.postgres import PostgresServer
from tests.kit.redis import RedisServer

SERVED = [pytest.param("postgres", marks=pytest.mark.postgres), "redis"]


@pytest.fixture(scope="module")
def own_postgres(postgres_server):
    """Apart from the shared server, which no test may stop."""
    with PostgresServer(settings={"synchronous_commit": "on"}) as server:
        yield server


@pytest.fixture
def own_redis():
    service.need(RedisServer.program)
    with RedisServer(durable=True) as server:
        yield server


@pytest.fixture(params=SERVED)
def served(request):
    """A server of one's own, and the ledger on it."""
    if request.param == "postgres":
        server = request.getfixturevalue("own_postgres")
        return server, LedgerPlace("postgres", server.url(server.create_database()))
    server = request.getfixturevalue("own_redis")
    return server, LedgerPlace("redis", server.url())


async def test_a_restart_of_the_server_is_outlasted(served):
    server, place = served
    async with place.open() as ledger:
        under_way, over = asyncio.Event(), asyncio.Event()
        counted = 0

        async def work():
            nonlocal counted
            while not over.is_set():
                await increment(ledger, "a")
                counted += 1
                if counted > 20:
                    under_way.set()

        working = asyncio.create_task(work())
        await under_way.wait()
        await asyncio.to_thread(server.restart)
        over.set()
        await working
        await increment(ledger, "a")
        assert await look(ledger, "a") == LedgerEntry("a", counted + 1, str(counted + 1))


async def test_idle_connections_cut_by_a_restart_are_not_noticed(served):
    server, place = served
    async with place.open() as ledger:
        await asyncio.gather(*(increment(ledger, key) for key in "abcd"))
        await asyncio.to_thread(server.restart)
        await asyncio.gather(*(increment(ledger, key) for key in "abcd"))
        assert [entry.state for entry in await ledger.entries()] == ["2"] * 4


async def test_a_listener_is_notified_again_after_a_restart(served):
    server, place = served
    async with place.open() as ledger, place.open() as other:
        assert await other.wait_urgent(10.0)
        await asyncio.to_thread(server.restart)
        assert await other.wait_urgent(10.0)
        await ledger.exchange([Proposal("a", 0, "closed", urgent=True)], [])
        assert await other.wait_urgent(10.0)


async def test_changes_in_the_log_of_redis_survive_a_kill(own_redis):
    async with RedisLimits(own_redis.url()) as ledger:
        await ledger.exchange([Proposal("a", 0, "learned"), Proposal("b", 0, "x")], [])
        await ledger.forget("b")
        await asyncio.to_thread(own_redis.restart, signal.SIGKILL)
        assert await ledger.entries() == [LedgerEntry("a", 1, "learned")]


def lose_the_next_answer_of_redis(ledger, *, kept):
    script = ledger._swap

    async def cut(*words):
        ledger._swap = script
        if kept:
            await script(*words)
        raise RedisConnectionError("cut off")

    ledger._swap = cut


def lose_the_next_answer_of_postgres(store, *, kept):
    database = store._database
    original = database._attempt

    async def cut(work, **options):
        database._attempt = original
        if kept:
            await original(work, **options)
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    database._attempt = cut


@pytest.fixture(params=SERVED)
def emptied(request):
    """The shared server, and the ledger on it."""
    if request.param == "postgres":
        request.getfixturevalue("migrated").empty()
        return LedgerPlace("postgres", request.getfixturevalue("migrated").url)
    request.getfixturevalue("redis_server").empty()
    return LedgerPlace("redis", request.getfixturevalue("redis_server").url())


@pytest.mark.parametrize("kept", [False, True])
async def test_a_change_whose_answer_was_lost_is_made_once_and_reported_as_accepted(emptied, kept):
    proposals = [Proposal("a", 0, "one"), Proposal("b", 4, "late")]
    if emptied.kind == "redis":
        async with RedisLimits(emptied.address) as ledger:
            lose_the_next_answer_of_redis(ledger, kept=kept)
            exchange = await ledger.exchange(proposals, [])
    else:
        async with PostgresStore(emptied.address) as store:
            lose_the_next_answer_of_postgres(store, kept=kept)
            exchange = await store.limits.exchange(proposals, [])
    assert exchange.accepted == {"a"}
    assert exchange.entries == [LedgerEntry("a", 1, "one"), LedgerEntry("b", 0, "")]


@pytest.mark.postgres
async def test_a_forgetting_whose_answer_was_lost_is_still_true(migrated):
    migrated.empty()
    async with PostgresStore(migrated.url) as store:
        await store.limits.exchange([Proposal("a", 0, "one")], [])
        lose_the_next_answer_of_postgres(store, kept=True)
        assert await store.limits.forget("a")
        assert not await store.limits.forget("a")


async def test_a_redis_that_is_not_there_is_named_without_the_password():
    url = f"redis://me:secret@127.0.0.1:{free_port()}/3"
    with pytest.raises(StoreUnreachable, match=r"redis://127\.0\.0\.1:\d+/3 does not") as refusal:
        async with RedisLimits(url):
            pass
    assert "secret" not in str(refusal.value)


async def test_a_redis_that_stays_away_is_abandoned_in_time(own_redis):
    async with RedisLimits(own_redis.url(), patience_s=0.3) as ledger:
        await asyncio.to_thread(own_redis.stop)
        with pytest.raises(StoreUnreachable, match="does not answer"):
            await ledger.exchange([], ["a"])


async def found_again(ledger, key):
    """What it says, once it answers: a busy machine may take longer than its patience."""
    while True:
        with suppress(StoreUnreachable):
            return await look(ledger, key)


async def test_a_redis_that_hangs_is_abandoned_and_found_again(own_redis, monkeypatch):
    monkeypatch.setattr(RedisConnection, "ANSWER_S", 0.2)
    async with RedisLimits(own_redis.url(), patience_s=0.3) as ledger:
        await increment(ledger, "a")
        own_redis.send(signal.SIGSTOP)
        with pytest.raises(StoreUnreachable):
            await ledger.exchange([], ["a"])
        own_redis.send(signal.SIGCONT)
        async with asyncio.timeout(20):
            assert (await found_again(ledger, "a")).state == "1"


async def test_a_wrong_password_is_not_a_reason_to_wait(redis_server):
    url = redis_server.url().replace("redis://:", "redis://:wrong")
    with pytest.raises(StoreError, match="password") as refusal:
        async with RedisLimits(url):
            pass
    assert not isinstance(refusal.value, StoreUnreachable)


async def test_a_full_redis_says_so_and_still_answers(own_redis):
    async with RedisLimits(own_redis.url()) as ledger:
        await increment(ledger, "a")
        with Redis.from_url(own_redis.url()) as operator:
            operator.config_set("maxmemory", "1")
        with pytest.raises(StoreFull, match="maxmemory"):
            await ledger.exchange([Proposal("b", 0, "x")], [])


async def test_something_else_under_our_key_is_an_error_in_words(redis_server):
    redis_server.empty()
    with Redis.from_url(redis_server.url()) as stranger:
        stranger.set("headgate:gate:a", "theirs")
    async with RedisLimits(redis_server.url()) as ledger:
        with pytest.raises(StoreError, match="WRONGTYPE"):
            await ledger.exchange([Proposal("a", 0, "x")], [])


def test_an_impossible_url_is_reported_as_a_wrong_setting():
    with pytest.raises(UsageError, match="redis://"):
        RedisLimits("postgresql://here/there")


async def test_two_prefixes_on_one_redis_know_nothing_of_each_other(redis_server):
    redis_server.empty()
    async with (
        RedisLimits(redis_server.url(), prefix="one") as one,
        RedisLimits(redis_server.url(), prefix="two") as two,
    ):
        assert await two.wait_urgent(10.0)
        await one.exchange([Proposal("a", 0, "x", urgent=True)], [])
        assert await two.entries() == []
        assert not await two.wait_urgent(0.2)
