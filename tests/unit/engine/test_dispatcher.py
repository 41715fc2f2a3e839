"""In which order claimed items go to the lanes."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from headgate.engine.dispatcher import dealt
from headgate.stores.sqlite import SqliteStore
from tests.kit import factories


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


async def test_items_are_dealt_out_gate_by_gate(store: SqliteStore):
    job = await factories.job(store, 7, gates=["a", "b", "c", "a"])
    claimed = await factories.claim(store, job.id, await factories.worker(store))
    assert [item.gate for item in claimed] == ["b", "c", "a", "a", "b", "c", "a"]
    by_gate = sorted(claimed, key=lambda item: item.gate)
    assert [item.gate for item in dealt(by_gate)] == ["a", "b", "c", "a", "b", "c", "a"]
    assert [item.key for item in dealt(by_gate) if item.gate == "a"] == ["key-3", "key-4", "key-7"]


async def test_items_without_gates_stay_in_their_order(store: SqliteStore):
    job = await factories.job(store, 5)
    claimed = await factories.claim(store, job.id, await factories.worker(store))
    assert dealt(claimed) == claimed
