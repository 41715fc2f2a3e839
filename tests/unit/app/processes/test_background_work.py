"""Work in the background, by turns of the users."""

import asyncio

from headgate.app.processes.background_work import BackgroundWork, Work
from headgate.core.fair_turns import Slots, Waiting
from headgate.engine.clock import SystemClock

CLOCK = SystemClock()


class Shop:
    """Work that lasts until it is told to end."""

    def __init__(self, taken_by_others: tuple[int, ...] = ()) -> None:
        self.begun: list[int] = []
        self.ends: dict[int, asyncio.Event] = {}
        self._taken_by_others = taken_by_others

    async def claim(self, number: int) -> Work | None:
        return None if number in self._taken_by_others else self._work(number)

    async def end(self, number: int) -> None:
        self.ends[number].set()
        await self.settle()

    async def settle(self) -> None:
        for _ in range(10):
            await CLOCK.sleep(0)

    async def _work(self, number: int) -> None:
        self.begun.append(number)
        self.ends[number] = asyncio.Event()
        await self.ends[number].wait()


ANN = [Waiting(number, "ann") for number in range(1, 300)]
BOB = [Waiting(1_000, "bob")]


async def test_users_take_turns_in_any_order_of_arrival():
    """SH4, SL5."""
    shop, running = Shop(), BackgroundWork(Slots(total=3, per_user=2))
    await running.fill([*ANN, *BOB], shop.claim)
    await shop.settle()
    assert shop.begun == [1, 1_000, 2]
    await shop.end(1_000)
    await running.fill(ANN, shop.claim)
    await shop.settle()
    assert shop.begun == [1, 1_000, 2]  # a user alone leaves room for others
    await shop.end(1)
    await running.fill(ANN[1:], shop.claim)
    await shop.settle()
    assert shop.begun == [1, 1_000, 2, 3]
    await running.stop()


async def test_work_that_another_process_took_uses_no_slot():
    shop, running = Shop(taken_by_others=(1, 2)), BackgroundWork(Slots(total=2, per_user=1))
    await running.fill([*ANN, *BOB], shop.claim)
    await shop.settle()
    assert sorted(shop.begun) == [3, 1_000]
    await running.stop()


async def test_a_stop_waits_for_all_work_and_reports_each():
    ended: list[tuple[int, bool]] = []
    shop = Shop()
    running = BackgroundWork(
        Slots(4, 4), lambda number, task: ended.append((number, task.cancelled()))
    )
    await running.fill(ANN[:2], shop.claim)
    await shop.settle()
    await shop.end(1)
    await running.stop()
    await shop.settle()
    assert ended == [(1, False), (2, True)]
    assert 1 not in running
