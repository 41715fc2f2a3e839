"""Limits on concurrent requests, event streams and body memory; and thread pools by purpose."""

import asyncio
import os
import sys
import threading
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import ParamSpec, TypeVar

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


Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")


class Pool:
    def __init__(self, name: str, size: int, niceness: int = 0) -> None:
        """`niceness`: how far the threads stand back when processors are short, on Linux."""
        self._executor = ThreadPoolExecutor(
            size, thread_name_prefix=name, initializer=_lower_priority, initargs=(niceness,)
        )

    async def run(
        self,
        work: Callable[Arguments, Found],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Found:
        called = partial(work, *arguments, **named)
        return await asyncio.get_running_loop().run_in_executor(self._executor, called)


def _lower_priority(niceness: int) -> None:
    if niceness and sys.platform == "linux":  # where a thread has its own priority
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)


class Threads:
    def __init__(self, previews: int) -> None:
        """`previews`: previews that may run at the same time, each in its own thread."""
        self.uploads = Pool("uploads", 4)
        self.many_files = Pool("many-files", 1)
        """Uploads of many small files, which use the interpreter more than the disk."""
        self.previews = Pool("previews", previews)
        """Previews of short texts; `Inspections` reads other files."""
        self.copies = Pool("copies", previews)
        """Copies of remote sources for a preview. The remote server decides how long they take."""
        self.passwords = Pool("passwords", 2, niceness=10)
        """A password check takes 32 MB and 0.1 s on purpose, without the interpreter."""
        self.bodies = Pool("bodies", 2)
