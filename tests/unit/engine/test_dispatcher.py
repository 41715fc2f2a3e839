"""In which order claimed items go to the lanes."""

from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import structlog

from headgate.app.http_factory import HttpFactory
from headgate.app.settings import Settings
from headgate.core.item import Item
from headgate.engine.board import FlightBoard
from headgate.engine.clock import SystemClock
from headgate.engine.dispatcher import Dispatcher, Scope, interleaved
from headgate.engine.engine import Engine, EngineDeps, Policies, SliceBudget
from headgate.engine.policy import WorkerPolicy
from headgate.ports.gate import HostTrouble
from headgate.ports.handler import HandlerSpec
from headgate.ports.store import Notifier
from headgate.stores.sqlite import SqliteStore
from tests.kit import factories
from tests.kit.engines import run_job
from tests.kit.observer import SpyObserver


async def answer(item: Item, ctx: object) -> dict[str, int]:
    return {"ok": 1}


GATED = HandlerSpec("test", "test", answer, is_async=True, gate_of=str)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


async def test_items_are_interleaved_by_gate(store: SqliteStore):
    job = await factories.job(store, 7, gates=["a", "b", "c", "a"])
    claimed = await factories.claim(store, job.id, await factories.worker(store))
    assert [item.gate for item in claimed] == ["b", "c", "a", "a", "b", "c", "a"]
    by_gate = sorted(claimed, key=lambda item: item.gate)
    assert [item.gate for item in interleaved(by_gate)] == ["a", "b", "c", "a", "b", "c", "a"]
    assert [item.key for item in interleaved(by_gate) if item.gate == "a"] == [
        "key-3",
        "key-4",
        "key-7",
    ]


async def test_items_without_gates_stay_in_their_order(store: SqliteStore):
    job = await factories.job(store, 5)
    claimed = await factories.claim(store, job.id, await factories.worker(store))
    assert interleaved(claimed) == claimed


async def test_items_without_a_gate_run_where_the_handler_names_gates(store: SqliteStore):
    job = await factories.job(store, 3, gates=["", "a", ""])
    await run_job(store, job.id, GATED)
    assert (await store.reads.counts(job.id)).done == 3


class Watched:
    """A notifier that never waits, and ends the engine after a number of rests."""

    def __init__(self, rings: Notifier, most: int) -> None:
        self._rings = rings
        self._most = most
        self.rests: list[float] = []
        self.engine: Engine

    async def wait(self, seconds: float) -> bool:
        self.rests.append(seconds)
        if len(self.rests) >= self._most:
            self.engine.stop()
        await SystemClock().sleep(0)
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rings, name)


async def test_a_worker_does_not_poll_in_a_loop_for_items_it_cannot_claim(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
):
    await factories.job(store, 2, gates=["shut.example"])
    clock = SystemClock()
    traffic = HttpFactory(Settings(), store, "me", clock, Random(1))
    traffic.gates.hosts.is_down("shut.example", HostTrouble(600.0, "connection refused"), 1)
    watched = Watched(store.notifier, 20)
    monkeypatch.setattr(store, "notifier", watched)
    watched.engine = Engine(
        Scope(await factories.worker(store)),
        Policies(worker=WorkerPolicy(concurrency=2, poll_s=5.0)),
        EngineDeps(
            store,
            lambda _reference: GATED,
            SpyObserver(),
            clock,
            structlog.get_logger(),
            FlightBoard.create(),
            Random(1),
            traffic,
            traffic.gates,
        ),
    )
    await watched.engine.run_slice(SliceBudget())
    assert min(watched.rests[Dispatcher.EMPTY_CLAIMS + 1 :]) >= Dispatcher.CROWDED_S
    await traffic.close()


async def test_a_trial_of_a_host_is_a_row_from_elsewhere_in_the_input(store: SqliteStore):
    job = await factories.job(store, 100)
    clock = SystemClock()
    traffic = HttpFactory(Settings(), store, "me", clock, Random(1))
    hosts = traffic.gates.hosts
    hosts.is_down("down.example", HostTrouble(0.0, "answers 500", doubtful=True), job.id)
    for _ in range(hosts.HELD_AFTER):
        hosts.keeps_waiting("down.example", job.id)
    ran: list[str] = []

    async def note(item: Item, ctx: object) -> dict[str, int]:
        ran.append(item.key)
        return {"ok": 1}

    engine = Engine(
        Scope(await factories.worker(store)),
        Policies(worker=WorkerPolicy(concurrency=2)),
        EngineDeps(
            store,
            lambda _reference: HandlerSpec("test", "test", note, is_async=True),
            SpyObserver(),
            clock,
            structlog.get_logger(),
            FlightBoard.create(),
            Random(1),
            traffic,
            traffic.gates,
        ),
    )
    await engine.run_slice(SliceBudget(until_idle=True))
    await traffic.close()
    assert ran[0] == "key-62"
