"""Virtual time for several processes at once, each with a clock of its own that may stop."""

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import asynccontextmanager
from typing import TypeVar

Value = TypeVar("Value")
START_S = 1_800_000_000.0
TURNS = 8
"""How often the loop goes round after each event, so that what woke can fall asleep again."""


class Timeline:
    """What is due when. Time moves on only while no task does real work."""

    def __init__(self) -> None:
        self.now_s = START_S
        self._events: list[tuple[float, int, Callable[[], bool]]] = []
        self._order = itertools.count()
        self._busy = 0
        self._one_by_one = asyncio.Lock()
        self._idle = asyncio.Event()
        self._idle.set()

    def at(self, when_s: float, call: Callable[[], bool]) -> None:
        """Do something at a moment; it returns whether that may have woken a task."""
        heapq.heappush(self._events, (when_s, next(self._order), call))

    async def run_until(self, end_s: float) -> None:
        """Let time pass."""
        await self._quiet()
        while self._events and self._events[0][0] <= end_s:
            when_s, _, call = heapq.heappop(self._events)
            self.now_s = max(self.now_s, when_s)
            if call():
                await self._quiet()
        self.now_s = max(self.now_s, end_s)

    @asynccontextmanager
    async def busy(self) -> AsyncIterator[None]:
        """Hold time while something happens outside of it, such as a question to a real store.

        One at a time, so that every run is the same: the next one begins when all that the one
        before has set going is asleep again, however fast the store answers.
        """
        self._busy += 1
        self._idle.clear()
        try:
            async with self._one_by_one:
                for _ in range(TURNS):
                    await _Turn()
                yield
        finally:
            self._busy -= 1
            if not self._busy:
                self._idle.set()

    async def _quiet(self) -> None:
        quiet = 0
        while quiet < TURNS:
            await _Turn()
            quiet += 1
            if self._busy:
                await self._idle.wait()
                quiet = 0


class ProcessClock:
    """The clock of one process: its wall clock may be wrong, and nothing rings while it is frozen.

    The time goes on for a frozen process all the same; it only does not see it pass.
    """

    def __init__(self, timeline: Timeline, *, wrong_by_s: float = 0.0) -> None:
        self._timeline = timeline
        self._wrong_by_s = wrong_by_s
        self._held: list[Callable[[], bool]] | None = None

    def now(self) -> int:
        """UTC microseconds, as this machine believes."""
        return round((self._timeline.now_s + self._wrong_by_s) * 1_000_000)

    def monotonic(self) -> float:
        """Seconds since the machine was started; this clock cannot be set."""
        return self._timeline.now_s - START_S + 1_000.0

    async def sleep(self, seconds: float) -> None:
        """Wait; zero only lets others run."""
        if seconds <= 0:
            await _Turn()
            return
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.later(seconds, lambda: resolve(woken, None))
        await woken

    def later(self, seconds: float, call: Callable[[], object]) -> Callable[[], object]:
        """Have `call` called after a while; calling the answer cancels that."""
        wanted = [call]

        def ring() -> bool:
            if self._held is not None:
                self._held.append(ring)
                return False
            calls = [*wanted]
            for each in calls:
                each()
            return bool(calls)

        # Nothing happens at the very moment at which it was ordered.
        self._timeline.at(self._timeline.now_s + max(seconds, 1e-6), ring)
        return wanted.clear

    def freeze(self) -> None:
        """As SIGSTOP."""
        self._held = []

    def thaw(self) -> None:
        """As SIGCONT: whatever should have happened meanwhile happens now."""
        held, self._held = self._held or [], None
        for ring in held:
            self._timeline.at(self._timeline.now_s, ring)


def resolve(future: asyncio.Future[Value], value: Value) -> None:
    """Give the caller an answer, if it still waits."""
    if not future.done():
        future.set_result(value)


class _Turn:
    def __await__(self) -> Generator[None, None, None]:
        yield
