"""PostgreSQL goes away and comes back; answers are lost; disks fill. Nothing is lost or doubled."""

import asyncio

import psycopg
import pytest

from headgate.core.errors import StoreError, StoreFull, StoreUnreachable, UsageError
from headgate.core.job import Counts, NewJob
from headgate.core.status import JobMove, JobState
from headgate.engine.clock import SystemClock
from headgate.ports.items import EnqueueRequest
from headgate.ports.reads import EventQuery, JobQuery
from headgate.stores.postgres import PostgresStore
from tests.kit import factories
from tests.kit.mirrors import follow_up, rows, run_of
from tests.kit.ports import free_port
from tests.kit.postgres import PostgresServer

pytestmark = pytest.mark.postgres


@pytest.fixture
async def store(migrated):
    migrated.empty()
    async with PostgresStore(migrated.url) as opened:
        yield opened
        assert await opened.reads.check(repair=False) == []


def lose_the_next_answer(store, *, committed, error=None):
    """Cut the connection of the next verb, before or after its commit."""
    database = store._database
    original = database._attempt

    async def cut(work, **options):
        database._attempt = original
        if committed:
            await original(work, **options)
        raise error or psycopg.OperationalError("server closed the connection unexpectedly")

    database._attempt = cut


BOTH = pytest.mark.parametrize("committed", [False, True])


@BOTH
async def test_a_settlement_whose_answer_was_lost_is_neither_doubled_nor_called_lost(
    store, committed
):
    job, who = await factories.job(store, 3), await factories.worker(store)
    leased = await factories.claim(store, job.id, who)
    lose_the_next_answer(store, committed=committed)
    assert await factories.finish(store, who, leased) == []
    assert await store.reads.counts(job.id) == Counts(done=3)
    assert [len(await store.reads.attempts(item.id)) for item in leased] == [1, 1, 1]
    assert "discarded" not in [event.kind for event in await store.reads.events(EventQuery(job.id))]


async def test_a_lost_lease_stays_refused_when_the_answer_was_lost_too(store):
    job, who = await factories.job(store, 2), await factories.worker(store)
    leased = await factories.claim(store, job.id, who)
    await store.jobs.retire(who, "frozen")
    lose_the_next_answer(store, committed=True)
    refused = await factories.finish(store, who, leased)
    assert sorted(refused) == sorted(item.id for item in leased)


@BOTH
async def test_every_lease_of_a_claim_whose_answer_was_lost_is_delivered(store, committed):
    job, who = await factories.job(store, 20), await factories.worker(store)
    delivered = await factories.claim(store, job.id, who, 4)
    lose_the_next_answer(store, committed=committed)
    delivered += await factories.claim(store, job.id, who, 5)
    delivered += await factories.claim(store, job.id, who, 3)
    assert [item.key for item in delivered] == [f"key-{line}" for line in range(1, 13)]
    held = [(item.id, item.epoch) for item in await store.items.leases_of(who)]
    assert held == [(item.id, item.epoch) for item in delivered]


@BOTH
@pytest.mark.parametrize("position", [None, "p1"])
async def test_rows_whose_answer_was_lost_are_stored_once(store, committed, position):
    job = await store.jobs.create_job(NewJob("h", "file.csv"))
    expected = None if position is None else ""
    lose_the_next_answer(store, committed=committed)
    request = EnqueueRequest(job.id, factories.rows(5), position, expected)
    report = await store.items.enqueue_many(request)
    assert (report.inserted, list(report.known)) == (5, [])
    assert await store.reads.counts(job.id) == Counts(pending=5)


@BOTH
async def test_a_move_whose_answer_was_lost_happens_once(store, committed):
    job = await factories.job(store)
    lose_the_next_answer(store, committed=committed)
    assert (await store.jobs.move_job(job.id, JobMove.PAUSE)).state is JobState.PAUSED


async def test_a_job_is_not_made_twice_for_a_lost_answer(store):
    lose_the_next_answer(store, committed=True)
    with pytest.raises(StoreUnreachable):
        await store.jobs.create_job(NewJob("h", "file.csv"))
    assert len(await store.reads.jobs(JobQuery())) == 1


@pytest.mark.parametrize(
    "conflict", [psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure]
)
async def test_a_conflict_between_workers_is_settled_by_trying_again(store, conflict):
    job, who = await factories.job(store, 1), await factories.worker(store)
    leased = await factories.claim(store, job.id, who)
    lose_the_next_answer(store, committed=False, error=conflict("again"))
    assert await factories.finish(store, who, leased) == []


async def test_a_full_disk_is_named(store):
    job = await factories.job(store, 1)
    lose_the_next_answer(store, committed=False, error=psycopg.errors.DiskFull("no space"))
    with pytest.raises(StoreFull, match="Make space"):
        await factories.claim(store, job.id, "w")


async def test_a_statement_that_fails_is_not_tried_forever(store):
    lose_the_next_answer(store, committed=False, error=psycopg.errors.QueryCanceled("too slow"))
    with pytest.raises(StoreError, match="too slow"):
        await store.reads.jobs(JobQuery())


async def test_a_server_that_is_not_there_is_named_without_the_password():
    url = f"postgresql://me:secret@127.0.0.1:{free_port()}/batch"
    with pytest.raises(StoreUnreachable, match=r"127\.0\.0\.1") as refusal:
        async with PostgresStore(url):
            pass
    assert "secret" not in str(refusal.value)


async def test_a_foreign_database_is_not_changed(postgres_url):
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE items (theirs text)")
    with pytest.raises(StoreError, match="its own database"):
        async with PostgresStore(postgres_url):
            pass
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT to_regclass('jobs')").fetchone() == (None,)


@pytest.fixture(scope="module")
def own_server(postgres_server):
    """Apart from the shared server, which no test may stop."""
    # A commit that was acknowledged must outlast a crash of the server.
    with PostgresServer(settings={"synchronous_commit": "on"}) as server:
        yield server


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["fast", "immediate"])
async def test_work_continues_over_a_restart_of_the_server(own_server, mode):
    async with PostgresStore(own_server.url(own_server.create_database())) as store:
        job, who = await factories.job(store, 600), await factories.worker(store)
        executed, under_way = [], asyncio.Event()

        async def work():
            while leased := await factories.claim(store, job.id, who, 10):
                executed.extend(item.id for item in leased)
                if len(executed) > 100:
                    under_way.set()
                assert await factories.finish(store, who, leased) == []

        working = asyncio.create_task(work())
        ringing = asyncio.create_task(store.notifier.wait(30.0))
        await under_way.wait()
        await asyncio.to_thread(own_server.restart, mode)
        await working
        assert len(executed) == len(set(executed)) == 600
        assert await store.reads.counts(job.id) == Counts(done=600)
        assert await store.reads.check(repair=False) == []
        # The notifier lost its connection too and may have missed something: it wakes by itself.
        assert await ringing


async def test_a_server_that_stays_away_is_abandoned_in_time(own_server):
    name = own_server.create_database()
    async with PostgresStore(own_server.url(name), patience_s=1.0) as store:
        await factories.job(store, 1)
        await asyncio.to_thread(own_server.stop)
        try:
            with pytest.raises(StoreUnreachable, match="does not answer"):
                await store.reads.jobs(JobQuery())
        finally:
            await asyncio.to_thread(own_server.start)


async def test_a_backup_names_the_tool_and_hides_the_password(store):
    with pytest.raises(UsageError, match=r"pg_dump.*:\*\*\*@"):
        await store.backup("copy.dump")


async def test_a_cancellation_that_comes_with_a_connection_is_not_lost(store):
    """Else a loop that reads the store would go on, and its command would never end."""
    database, clock = store._database, SystemClock()

    async def look(_session: object) -> None:
        pass

    held = [database._pool.connection() for _ in range(database.CONNECTIONS)]
    connections = [await each.__aenter__() for each in held]
    waiting = asyncio.create_task(database.single(look))
    while not database._pool._waiting:
        await clock.sleep(0)
    (client,) = database._pool._waiting
    await client.set(connections[0])  # what the pool does with a connection that comes back
    waiting.cancel()
    await asyncio.wait([waiting], timeout=30)
    assert waiting.cancelled()
    for each in held[1:]:
        await each.__aexit__(None, None, None)


@BOTH
async def test_a_page_whose_answer_was_lost_is_kept_once(store, committed):
    run = await run_of(store)
    (page,) = await run.claim()
    lose_the_next_answer(store, committed=committed)
    more = {"rows": rows(1, 2), "items": [follow_up("next")], "fields": {"people": {"id": 4}}}
    assert (await run.settle(page, **more)).refused == []
    checkpoint = await run.checkpoint()
    assert (checkpoint.pages, checkpoint.added, checkpoint.repeated) == (1, 2, 0)
    assert await store.reads.counts(run.job.id) == Counts(pending=1, done=1)
