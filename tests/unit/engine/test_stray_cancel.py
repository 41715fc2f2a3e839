"""A handler that cancels tasks of the engine is found among those in flight."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from headgate.core.item import Item
from headgate.engine.engine import SliceBudget
from headgate.stores.sqlite import SqliteStore
from tests.unit.engine.test_engine import Bench

GUILTY = "key-5"


def cancel_all() -> None:
    for task in asyncio.all_tasks():
        task.cancel()


def cancel_others() -> None:
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()


def cancel_itself() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()


@pytest.mark.parametrize("and_then", ["return", "wait"])
@pytest.mark.parametrize("deed", [cancel_all, cancel_others, cancel_itself])
def test_running_items_are_still_on_the_board_when_the_end_of_the_loop_is_reported(
    tmp_path: Path, deed: Callable[[], None], and_then: str
):
    """A worker process ends there and then; here it winds down, and its first word counts."""
    blamed: list[set[int]] = []
    ids: dict[str, int] = {}

    async def handler(item: Item, ctx: object) -> dict[str, Any]:
        await asyncio.sleep(0)  # noqa: TID251  a turn of the loop, as users write it
        if item.key == GUILTY:
            deed()
            if and_then == "wait":
                await asyncio.Event().wait()
        return {}

    async def main() -> None:
        async with SqliteStore(tmp_path / "headgate.db") as store:
            bench = Bench(store, handler)

            def told() -> None:
                engine.blame_uncommitted()
                blamed.append({flight.item_id for flight in bench.board.running()})
                engine.stop_now()

            bench.on_stray_cancel = told
            engine = await bench.engine(12, concurrency=4)
            ids.update({item.key: item.id for item in await bench.items()})
            await engine.run_slice(SliceBudget(until_idle=True))

    with suppress(asyncio.CancelledError):
        asyncio.run(main())
    assert ids[GUILTY] in blamed[0]


async def test_a_lane_pool_that_ends_its_lanes_blames_no_item(tmp_path: Path):
    started = asyncio.Event()

    async def handler(item: Item, ctx: object) -> dict[str, Any]:
        started.set()
        await asyncio.Event().wait()
        return {}

    def told() -> None:
        raise AssertionError("nothing has gone astray")

    async with SqliteStore(tmp_path / "headgate.db") as store:
        bench = Bench(store, handler)
        bench.on_stray_cancel = told
        engine = await bench.engine(4)
        running = asyncio.ensure_future(engine.run_slice(SliceBudget(until_idle=True)))
        await started.wait()
        engine.stop_now()
        await running
        assert {ending for ending, _ in await bench.endings()} == {"PENDING"}
    assert bench.board.running() == []
