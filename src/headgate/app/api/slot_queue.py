"""Requests that wait for a slot, each in the line of its user."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from headgate.core.slots import Slots


class SlotQueue:
    """Slots for one kind of request: see Slots for who gets the next one."""

    def __init__(self, total: int, per_user: int) -> None:
        self._slots = Slots(total, per_user)
        self._lines: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def slot(self, user: str) -> AsyncIterator[None]:
        """Wait for a slot, and use it."""
        turn = asyncio.get_running_loop().create_future()
        self._lines.setdefault(user, deque()).append(turn)
        self._hand_out()
        try:
            await turn
            yield
        finally:
            self._leave(user, turn)
            self._hand_out()

    def _hand_out(self) -> None:
        while (user := self._slots.next(self._lines)) is not None:
            turn = self._lines[user].popleft()
            if not self._lines[user]:
                del self._lines[user]
            if not turn.cancelled():
                self._slots.take(user)
                turn.set_result(None)

    def _leave(self, user: str, turn: "asyncio.Future[None]") -> None:
        if turn.done() and not turn.cancelled():
            self._slots.give_back(user)
        elif turn in (line := self._lines.get(user, deque())):
            line.remove(turn)
            if not line:
                del self._lines[user]
