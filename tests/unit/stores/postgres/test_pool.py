"""A batch that had to wait for a connection says so."""

import asyncio

from headgate.core.job import NewJob
from headgate.ports.items import EnqueueRequest
from headgate.stores.postgres import PostgresStore
from headgate.stores.postgres.connection import PostgresDatabase, PostgresSession
from tests.kit import factories


async def test_waiting_for_a_connection_is_told(postgres_url: str):
    async with PostgresStore(postgres_url) as store:
        job = await factories.job(store, new=NewJob("price", "queue:q", open=True))
        free = await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(1)))
        assert not free.waited
        let_go, taken = asyncio.Event(), asyncio.Semaphore(0)

        async def occupy(session: PostgresSession) -> None:
            taken.release()
            await let_go.wait()

        busy = [
            asyncio.create_task(store._database.single(occupy))
            for _ in range(PostgresDatabase.CONNECTIONS)
        ]
        for _ in busy:
            await taken.acquire()
        waiting = asyncio.create_task(
            store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(1, 5)))
        )
        while not store._database._pool.get_stats()["requests_waiting"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)  # noqa: TID251  the pool tells no event
        let_go.set()
        assert (await waiting).waited
        await asyncio.gather(*busy)
