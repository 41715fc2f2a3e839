"""Limits on concurrent requests, event streams and body memory, in total and per user."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from headgate.app.api.problems import ProblemResponse
from headgate.core.fair_turns import Slots


class SlotQueue:
    """Slots for one kind of request, with one wait queue per user. `Slots` picks the next user."""

    def __init__(self, total: int, per_user: int) -> None:
        self._slots = Slots(total, per_user)
        self._lines: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def slot(self, user: str) -> AsyncIterator[None]:
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


class StreamSlots:
    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    def require_room(self, user: str) -> None:
        """Raise 429 if the user has the maximum number of open streams."""
        if self._open[user] >= self._most:
            raise ProblemResponse(
                429,
                f"you have {self._most} event streams open, which is the limit; close some",
                {"Retry-After": "5"},
            )

    @contextmanager
    def held(self, user: str) -> Iterator[None]:
        self._open[user] += 1
        try:
            yield
        finally:
            self._open[user] -= 1
            if not self._open[user]:
                del self._open[user]


SHARE = 4
"""One owner may hold at most 1/4 of the body memory."""


class BodyMemory:
    """Limits the bytes of request bodies in memory, in total and per owner."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: Counter[str] = Counter()

    def take(self, owner: str, size: int) -> None:
        """Reserve bytes. Raises 429 at the owner's limit and 503 at the total limit."""
        if self._held[owner] + size > self._most // SHARE:
            raise ProblemResponse(
                429, "your running requests use too much memory; send them one after another"
            )
        if self._held.total() + size > self._most:
            raise ProblemResponse(
                503, "the server has too many large requests; try again later", {"Retry-After": "5"}
            )
        self._held[owner] += size

    def free(self, owner: str, size: int) -> None:
        self._held[owner] -= size
        if self._held[owner] <= 0:
            del self._held[owner]
