import asyncio

import pytest

from headgate.ports.limits import Proposal
from headgate.stores.postgres import PostgresStore


async def urge(ledger, version=0, key="a"):
    exchange = await ledger.exchange([Proposal(key, version, "closed", urgent=True)], [])
    assert exchange.accepted == {key}


async def listen(*ledgers):
    """From here on they hear: the first wait says that something may have been missed."""
    for ledger in ledgers:
        assert await ledger.wait_urgent(10.0)


async def test_an_urgent_change_wakes_another_process(ledger, other):
    await listen(other)
    waiting = asyncio.create_task(other.wait_urgent(10.0))
    await urge(ledger)
    assert await waiting


async def test_an_urgent_change_between_two_waits_is_not_lost(ledger, other):
    await listen(other)
    for version in range(3):
        await urge(ledger, version)
        assert await other.wait_urgent(10.0)


async def test_one_wake_up_stands_for_all_that_came_before_it(ledger, other):
    await listen(other)
    proposals = [Proposal(key, 0, "closed", urgent=True) for key in "abcdef"]
    await ledger.exchange(proposals, [])
    assert await other.wait_urgent(10.0)
    assert not await other.wait_urgent(0.3)


async def test_a_change_that_is_not_urgent_notifies_no_process(ledger, other):
    await listen(other)
    await ledger.exchange([Proposal("a", 0, "calm")], [])
    assert not await other.wait_urgent(0.3)


async def test_a_refused_change_notifies_no_process(ledger, other):
    await ledger.exchange([Proposal("a", 0, "calm")], [])
    await listen(other)
    late = Proposal("a", 0, "closed", urgent=True)
    assert (await ledger.exchange([late], [])).accepted == frozenset()
    assert not await other.wait_urgent(0.3)


async def test_a_process_does_not_notify_itself(ledger, other):
    await listen(ledger, other)
    await urge(ledger)
    assert await other.wait_urgent(10.0)
    assert not await ledger.wait_urgent(0.3)


async def test_a_calm_change_does_not_hide_an_urgent_one(ledger, other):
    await listen(other)
    await urge(ledger)
    await ledger.exchange([Proposal("a", 1, "calm")], [])
    assert await other.wait_urgent(10.0)


async def test_forgetting_is_urgent(ledger, other):
    await ledger.exchange([Proposal("a", 0, "calm")], [])
    await listen(ledger, other)
    await ledger.forget("a")
    assert await other.wait_urgent(10.0)
    assert not await ledger.wait_urgent(0.3)


async def test_forgetting_nothing_notifies_no_process(ledger, other):
    await listen(other)
    await ledger.forget("a")
    assert not await other.wait_urgent(0.3)


async def test_a_wait_can_be_abandoned(ledger, other):
    await listen(other)
    waiting = asyncio.create_task(other.wait_urgent(60.0))
    await asyncio.sleep(0.05)  # noqa: TID251  lets it begin
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await urge(ledger)
    assert await other.wait_urgent(10.0)


@pytest.mark.postgres
async def test_behind_a_transaction_pooler_what_is_urgent_is_found_by_looking(postgres_url):
    url = f"{postgres_url}?notify=off"
    async with PostgresStore(url) as store, PostgresStore(url) as another:
        await listen(store.limits, another.limits)
        await urge(store.limits)
        assert await another.limits.wait_urgent(10.0)
        assert not await another.limits.wait_urgent(0.3)
        assert not await store.limits.wait_urgent(0.3)
