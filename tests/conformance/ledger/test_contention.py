import asyncio

import pytest

from headgate.ports.limits import LedgerEntry
from tests.kit.ledgers import count_up, count_up_in_processes, look


async def test_concurrent_tasks_on_one_gate_lose_no_update(place, ledger):
    await count_up(place, "a", tasks=6, times=10)
    assert await look(ledger, "a") == LedgerEntry("a", 60, "60")


@pytest.mark.slow
async def test_processes_that_fight_over_a_gate_lose_no_update(place, ledger):
    await asyncio.to_thread(count_up_in_processes, place, "a", processes=3, times=40)
    assert await look(ledger, "a") == LedgerEntry("a", 240, "240")
