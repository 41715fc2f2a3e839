"""Requests that wait for a slot, each in the line of its user."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from headgate.app.api.problems import ProblemResponse
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


class StreamSlots:
    """Counts the open streams of each user."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    def require_room(self, user: str) -> None:
        """Refuse one stream too many."""
        if self._open[user] >= self._most:
            raise ProblemResponse(
                429,
                f"you have {self._most} streams of events open, which is the most: close some",
                {"Retry-After": "5"},
            )

    @contextmanager
    def held(self, user: str) -> Iterator[None]:
        """Count a stream for as long as it is open."""
        self._open[user] += 1
        try:
            yield
        finally:
            self._open[user] -= 1
            if not self._open[user]:
                del self._open[user]


SHARE = 4
"""A user has one part in so many."""


class BodyMemory:
    """The bytes of bodies that may be in memory, in total and for one owner."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: Counter[str] = Counter()

    def take(self, owner: str, size: int) -> None:
        """Count bytes that came; 429 or 503 if there is no room for them."""
        if self._held[owner] + size > self._most // SHARE:
            raise ProblemResponse(
                429, "your requests that are under way hold too much; send one after the other"
            )
        if self._held.total() + size > self._most:
            raise ProblemResponse(
                503, "too many large requests are under way", {"Retry-After": "5"}
            )
        self._held[owner] += size

    def free(self, owner: str, size: int) -> None:
        """Count them no more."""
        self._held[owner] -= size
        if self._held[owner] <= 0:
            del self._held[owner]
