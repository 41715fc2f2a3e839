import asyncio

import pytest

from headgate.stores.postgres import PostgresStore
from tests.kit import factories


async def drained(store):
    """Take the rings that are already there."""
    while await store.notifier.wait(0.2):
        pass


async def test_a_ring_is_heard_by_another_process(store, other):
    await drained(other)
    waiting = asyncio.create_task(other.notifier.wait(10.0))
    await factories.job(store, 1)
    await store.notifier.ring()
    assert await waiting


async def test_a_ring_between_two_waits_is_not_lost(store, other):
    await drained(other)
    await factories.job(store, 1)
    await store.notifier.ring()
    assert await other.notifier.wait(10.0)


async def test_without_a_ring_the_time_runs_out(store):
    await drained(store)
    assert not await store.notifier.wait(0.05)


async def test_a_wait_can_be_abandoned(store):
    await drained(store)
    waiting = asyncio.create_task(store.notifier.wait(60.0))
    await asyncio.sleep(0.05)  # noqa: TID251  let it begin
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not await store.notifier.wait(0.05)


@pytest.mark.postgres
async def test_behind_a_transaction_pooler_all_works_without_notifications(postgres_url):
    async with PostgresStore(f"{postgres_url}?notify=off") as store:
        job, who = await factories.job(store, 3), await factories.worker(store)
        assert await factories.finish(store, who, await factories.claim(store, job.id, who)) == []
        await store.notifier.ring()
        assert await store.notifier.wait(0.05)
        assert not await store.notifier.wait(0.05)
        assert await store.jobs.finish_job(job.id)


async def test_a_ring_wakes_the_waiter_of_its_own_process(store):
    await drained(store)
    waiting = asyncio.create_task(store.notifier.wait(60.0))
    await store.notifier.ring()
    async with asyncio.timeout(30):
        assert await waiting
    assert not await store.notifier.wait(0.05)
