"""Lanes that wait at a gate are replaced, and the pool returns to its size."""

import asyncio
from pathlib import Path

from headgate.app.settings import Settings
from headgate.core.provider import ProviderPolicy
from headgate.engine.clock import SystemClock
from headgate.engine.engine import SliceBudget
from headgate.ports.gate import Route, Turn
from headgate.stores.sqlite import SqliteStore
from tests.kit import factories
from tests.unit.engine.test_engine import Bench

LANES = 4
CLOSING, OPEN = Route("closing", "a.org", "a.org"), Route("", "b.org", "b.org")
FOREVER_S = 10.0**6


async def test_waiting_items_do_not_block_other_items(tmp_path: Path):
    """Twelve rows stop at a gate that only opens when all the others have been run."""
    working = most_working = 0
    finished: list[str] = []
    all_fast = asyncio.Event()

    async def handler(item, ctx):
        nonlocal working, most_working
        if int(item.input["n"]) <= 12:
            bench.traffic.gates.waiting_lanes.enter(ctx.job.id)
            await all_fast.wait()
            bench.traffic.gates.waiting_lanes.leave(ctx.job.id)
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
    assert bench.traffic.gates.waiting_lanes.total == 0
    assert most_working >= LANES
    assert len(list(bench.lanes)) <= LANES


async def test_a_job_with_full_gates_does_not_keep_other_jobs_waiting(tmp_path: Path):
    rests_before = 0
    finished = {1: 0, 2: 0}

    async def handler(item, ctx):
        finished[ctx.job.id] += 1
        if finished[2] == 200:
            del bench.traffic.gates.waiting_lanes.by_job[1]
        return {}

    async with SqliteStore(tmp_path / "headgate.db") as store:
        await factories.job(store, 20)
        bench = Bench(store, handler)
        engine = await bench.engine(200, concurrency=LANES)
        waiting_lanes = bench.traffic.gates.waiting_lanes
        waiting_lanes.by_job[1] = 1_000
        wait = store.notifier.wait

        async def counted(timeout_s: float) -> bool:
            nonlocal rests_before
            rests_before += finished[2] < 100
            return await wait(timeout_s)

        store.notifier.wait = counted  # type: ignore[method-assign]
        while sum(finished.values()) < 220:
            await engine.run_slice(SliceBudget(until_idle=True))
    assert rests_before == 0


async def test_items_at_a_closed_gate_take_no_lanes_from_others(tmp_path: Path):
    """A host closes when as many rows wait for it as a job may have waiting."""
    asked: list[str] = []
    finished: list[str] = []

    async def handler(item, ctx):
        route = CLOSING if item.input["n"] % 2 else OPEN
        asked.append(route.host)
        if asked.count(CLOSING.host) == gates.waiting_lanes.room_for_job:
            first.answered(429, {"retry-after": "600"}, 0.01)
        permit = await gates.enter(route, Turn("me", ctx.job.id), {}, FOREVER_S)
        permit.answered(200, {}, 0.01)
        permit.release()
        finished.append(route.host)
        if len(finished) == 100:
            engine.stop_now()
        return {}

    async with SqliteStore(tmp_path / "headgate.db") as store:
        bench = Bench(store, handler, gate_of=str)
        # The first request holds the only place, so that the others surely wait until it closes.
        only_one = ProviderPolicy(hosts=(CLOSING.host,), concurrency=1)
        bench.settings = Settings(providers={CLOSING.provider: only_one})
        engine = await bench.engine(200, gates=[OPEN.host, CLOSING.host], concurrency=LANES)
        gates = bench.traffic.gates
        gates.waiting_lanes.room_for_job = 3
        first = await gates.enter(CLOSING, Turn("me", 0), {}, FOREVER_S)
        async with asyncio.timeout(120):
            await engine.run_slice(SliceBudget())
        await bench.traffic.close()
    assert finished == [OPEN.host] * 100
