"""Requests that wait for a slot."""

import asyncio

from headgate.app.api.capacity import SlotQueue
from headgate.engine.clock import SystemClock

CLOCK = SystemClock()


class Users:
    """Requests that hold a slot until they are told to leave."""

    def __init__(self, queue: SlotQueue) -> None:
        self._queue = queue
        self.order: list[str] = []
        self._holding: list[tuple[str, asyncio.Event]] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def ask(self, *users: str) -> None:
        """Have a request of each user wait; return once all that can be served are."""
        self._tasks += [asyncio.create_task(self._request(user)) for user in users]
        await self.settle()

    async def finish(self, user: str) -> None:
        """Let one request of a user end."""
        found = next(each for each in self._holding if each[0] == user)
        self._holding.remove(found)
        found[1].set()
        await self.settle()

    async def cancel_last(self) -> None:
        self._tasks[-1].cancel()
        await self.settle()

    async def settle(self) -> None:
        for _ in range(10):
            await CLOCK.sleep(0)

    async def _request(self, user: str) -> None:
        async with self._queue.slot(user):
            self.order.append(user)
            leave = asyncio.Event()
            self._holding.append((user, leave))
            await leave.wait()


async def test_one_user_with_many_requests_does_not_delay_others():
    """SM7: 33 uploads of one user held up those of all."""
    users = Users(SlotQueue(total=4, per_user=2))
    await users.ask(*["ann"] * 33, "bob")
    assert users.order == ["ann", "ann", "bob"]
    await users.finish("ann")
    assert users.order[3:] == ["ann"]


async def test_users_who_wait_take_turns():
    users = Users(SlotQueue(total=1, per_user=1))
    await users.ask("ann", "ann", "ann", "bob")
    for _ in range(3):
        await users.finish(users.order[-1])
    assert users.order == ["ann", "bob", "ann", "ann"]


async def test_a_request_that_gave_up_takes_no_slot():
    users = Users(SlotQueue(total=1, per_user=1))
    await users.ask("ann", "bob")
    await users.cancel_last()
    await users.ask("cem")
    await users.finish("ann")
    assert users.order == ["ann", "cem"]


async def test_a_request_that_is_cancelled_as_its_turn_comes_gives_the_slot_back():
    queue = SlotQueue(total=1, per_user=1)
    users = Users(queue)
    await users.ask("ann", "bob")
    users._holding[0][1].set()
    await CLOCK.sleep(0)  # ann leaves, so that it is bob's turn; bob has not heard of it
    await users.cancel_last()
    await users.ask("cem")
    assert users.order == ["ann", "cem"]
