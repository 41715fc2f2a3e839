"""Background tasks, with a share for each user."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from functools import partial
from typing import Any

from headgate.core.fair_turns import Slots, Waiting, by_user

Work = Coroutine[Any, Any, None]
Claim = Callable[[int], Awaitable[Work | None]]
"""Claims the work with that id; None if another process has it, or it is gone."""
Ended = Callable[[int, "asyncio.Task[None]"], None]


class BackgroundWork:
    def __init__(self, slots: Slots, ended: Ended | None = None) -> None:
        self._slots = slots
        self._ended = ended
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def __contains__(self, number: int) -> bool:
        return number in self._tasks

    async def fill(self, waiting: Iterable[Waiting], claim: Claim) -> None:
        """Start waiting work, taking turns among the users, until all slots are in use."""
        lines = by_user(each for each in waiting if each.id not in self)
        while (user := self._slots.next(lines)) is not None:
            number = lines[user].pop(0)
            if not lines[user]:
                del lines[user]
            work = await claim(number)
            if work is not None:
                self._begin(number, user, work)

    async def stop(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        if self._tasks:
            await asyncio.wait([*self._tasks.values()])

    def _begin(self, number: int, user: str, work: Work) -> None:
        self._slots.take(user)
        task = asyncio.create_task(work)
        task.add_done_callback(partial(self._done, number, user))
        self._tasks[number] = task

    def _done(self, number: int, user: str, task: "asyncio.Task[None]") -> None:
        self._slots.give_back(user)
        del self._tasks[number]
        if self._ended is not None:
            self._ended(number, task)
