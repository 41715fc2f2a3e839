"""The process for suspects runs one row at a time, even while that row waits."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.item import Item
from headgate.core.retry import RetryPolicy, after_crash
from headgate.core.settlement import settle
from headgate.core.status import ItemStatus
from headgate.engine.engine import SliceBudget
from headgate.ports.gate import Route, Turn
from headgate.ports.handler import Context
from headgate.ports.items import SettleRequest
from headgate.stores.sqlite import SqliteStore
from tests.kit import factories
from tests.unit.engine.test_engine import Bench

SUSPECTS = 6
ROUTE = Route("", "a.org", "a.org")
TURNS = 10
"""Questions to the store, in whose time a dispatcher that may claim has long claimed."""


class Witness(Bench):
    """Sees how many rows are open when a row waits at a gate."""

    def __init__(self, store: SqliteStore, *, waits: str, pack: int | None = None) -> None:
        call = self.run_pack if pack else self.run_item
        super().__init__(store, call, pack=pack)
        self._waits = waits
        self.running = 0
        self.most_running = 0
        self.most_leased = 0
        self.most_lanes = 0

    async def run_item(self, item: Item, ctx: Context) -> dict[str, Any]:
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        gates = self.traffic.gates
        if self._waits == "parked":
            gates.waiting_lanes.enter(ctx.job.id)
            await self.look()
            gates.waiting_lanes.leave(ctx.job.id)
        else:
            permit = await gates.enter(ROUTE, Turn("me", ctx.job.id), {}, 60.0)
            await self.look()
            permit.answered(200, {}, 0.01)
            permit.release()
        self.running -= 1
        return {}

    async def run_pack(self, items: list[Item], ctx: Context) -> list[dict[str, Any]]:
        return [await self.run_item(item, ctx) for item in items]

    async def look(self) -> None:
        for _ in range(TURNS):
            leased = await self.store.items.leases_of(self.worker)
            # A row that has ended is committed, or it would be blamed for what this one does.
            self.most_leased = max(self.most_leased, len(leased))
            self.most_lanes = max(self.most_lanes, len(list(self.lanes)))


async def make_suspects(bench: Bench) -> None:
    """Each was running in a process that crashed."""
    who = await factories.worker(bench.store)
    leased = await factories.claim(bench.store, bench.job.id, who)
    crashed = [settle(item, after_crash(item, "killed", RetryPolicy())) for item in leased]
    await bench.store.items.settle_many(SettleRequest(who, crashed))


@pytest.mark.parametrize("pack", [None, 4], ids=["items", "packs"])
@pytest.mark.parametrize("waits", ["parked", "at a gate"])
async def test_no_second_suspect_is_open_while_the_first_waits(
    tmp_path: Path, waits: str, pack: int | None
):
    async with SqliteStore(tmp_path / "headgate.db") as store:
        bench = Witness(store, waits=waits, pack=pack)
        engine = await bench.engine(SUSPECTS, alone=True, concurrency=1)
        bench.lanes = engine._lane_pool
        await make_suspects(bench)
        async with asyncio.timeout(30):
            await engine.run_slice(SliceBudget(until_idle=True))
        assert {ending for ending, _ in await bench.endings()} == {"DONE"}
    assert (bench.most_running, bench.most_leased, bench.most_lanes) == (1, 1, 1)


async def test_a_suspect_that_is_refused_at_a_gate_stays_a_suspect(tmp_path: Path):
    async def handler(item: Item, ctx: Context) -> dict[str, Any]:
        raise AttemptOver(Fault(FaultClass.THROTTLED, "the gate is closed", 3_600.0))

    async with SqliteStore(tmp_path / "headgate.db") as store:
        bench = Bench(store, handler)
        engine = await bench.engine(1, alone=True, concurrency=1)
        await make_suspects(bench)
        await engine.run_slice(SliceBudget(until_idle=True))
        (row,) = await bench.items()
        detail = await store.reads.item(row.id)
    assert (row.status, row.attempts) == (ItemStatus.PENDING, 0)
    assert (detail.suspect, row.crashes) == (True, 1)
