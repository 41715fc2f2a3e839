"""A transaction of a shared module is a coroutine that ends without an event loop."""

import asyncio
from pathlib import Path

import pytest

from headgate.core.errors import UnknownJob
from headgate.stores.sqlite.connection import SqliteTransactions
from headgate.stores.sqlite.store import SqliteStore
from headgate.stores.sqlite.transaction import run_at_once


async def awaited(answer: int) -> int:
    return answer


async def nested() -> int:
    return await awaited(1) + await awaited(2)


def test_a_coroutine_that_never_waits_is_run_to_its_end():
    assert run_at_once(nested()) == 3


def test_an_error_of_the_coroutine_is_raised():
    async def fails() -> None:
        raise UnknownJob("job 1 does not exist")

    with pytest.raises(UnknownJob):
        run_at_once(fails())


async def test_a_transaction_that_waits_for_something_else_is_rolled_back(tmp_path: Path):
    async with SqliteStore(tmp_path / "store.db") as store:
        database = SqliteTransactions(store._database)

        never = asyncio.get_running_loop().create_future()

        async def work(tx) -> None:
            await tx.add_event("test", "not kept")
            await never

        with pytest.raises(RuntimeError, match="may only wait for its own queries"):
            await database.write(work)
        assert await database.read(lambda tx: tx.rows("events", after_id=0, limit=9)) == []


async def test_a_list_is_one_array_parameter(tmp_path: Path):
    async with SqliteStore(tmp_path / "store.db") as store:
        database = SqliteTransactions(store._database)
        await database.write_one(
            lambda tx: tx.add_counts([(1, "DONE", 2), (1, "DONE", -2), (1, "ERROR", 0)])
        )
        assert await database.read(lambda tx: tx.rows("counts", job_id=1)) == []
        assert await database.read(lambda tx: tx.rows("draining", workers=["a", "b"])) == []
