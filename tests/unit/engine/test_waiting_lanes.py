"""Lanes that stand before a gate are replaced, and the crew comes back to its size."""

import asyncio
from pathlib import Path

from headgate.engine.clock import SystemClock
from headgate.stores.sqlite import SqliteStore
from tests.unit.engine.test_engine import Bench

LANES = 4


async def test_items_that_wait_keep_nobody_from_working(tmp_path: Path):
    """Twelve rows stop at a gate that only opens when all the others have been run."""
    working = most_working = 0
    finished: list[str] = []
    all_fast = asyncio.Event()

    async def handler(item, ctx):
        nonlocal working, most_working
        if int(item.input["n"]) <= 12:
            bench.traffic.gates.parking.enter(ctx.job.id)
            await all_fast.wait()
            bench.traffic.gates.parking.leave(ctx.job.id)
        working += 1
        most_working = max(most_working, working)
        await SystemClock().sleep(0)
        working -= 1
        finished.append(item.key)
        if len(finished) == 20:
            all_fast.set()
        return {}

    async with SqliteStore(tmp_path / "headgate.db") as store:
        bench = Bench(store, handler)
        await bench.run(32, concurrency=LANES)
        assert {ending for ending, _ in await bench.endings()} == {"DONE"}
    assert len(finished) == 32
    assert bench.traffic.gates.parking.total == 0
    assert most_working >= LANES
    assert len(list(bench.crew)) <= LANES
