"""One caller fetches, the others wait for it."""

import asyncio
from collections import OrderedDict
from enum import Enum
from typing import Any

from headgate.ports.clock import Clock

MICROSECONDS = 1_000_000


class FetchOutcome(Enum):
    """What those who waited make of the end of a fetch."""

    KEPT = "kept"
    """It is in the cache, fresh."""
    ALONE = "alone"
    """Such answers cannot be shared: everybody goes for their own."""
    FAILED = "failed"
    """There is no answer: the next one tries, and the others wait again."""


class SharedFetch:
    """One fetch under way, whose answer may be of use to others."""

    STALL_S = 30.0
    """A body that did not grow for so long is not worth waiting for.

    Its reader may even be waiting for us: whoever reads one URL twice at a time waits for himself.
    """

    __slots__ = ("_end", "_head", "_outcome", "_pieces", "key", "outdated", "url")

    def __init__(self, key: str, url: str) -> None:
        self.key = key
        self.url = url
        self.outdated = False
        """Something was changed at its URL since it began: its answer may be older than that."""
        self._outcome: FetchOutcome | None = None
        self._pieces = 0
        # Hardly any fetch is waited for, so these are made by the first who does.
        self._head: asyncio.Future[None] | None = None
        self._end: asyncio.Future[None] | None = None

    @property
    def landed(self) -> bool:
        """Whether it is over."""
        return self._outcome is not None

    def grow(self) -> None:
        """The head, or another piece of the body, is there."""
        self._pieces += 1
        wake(self._head)

    def land(self, outcome: FetchOutcome) -> None:
        """It is over; only the first word counts."""
        self._outcome = self._outcome or outcome
        wake(self._head)
        wake(self._end)

    async def wait(self, clock: Clock) -> FetchOutcome:
        """Wait for its end: patiently for the head, which gates may hold up; then for progress."""
        loop = asyncio.get_running_loop()
        if not self._pieces and self._outcome is None:
            self._head = self._head or loop.create_future()
            await asyncio.shield(self._head)
        while self._outcome is None:
            self._end = self._end or loop.create_future()
            pieces = self._pieces
            pause: asyncio.Future[Any] = asyncio.ensure_future(clock.sleep(self.STALL_S))
            try:
                await asyncio.wait({self._end, pause}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                pause.cancel()
            if pieces == self._pieces and not self.landed:
                return FetchOutcome.ALONE
        return self._outcome


def wake(waiter: "asyncio.Future[None] | None") -> None:
    """Let those go on who wait, if there are any."""
    if waiter is not None and not waiter.done():
        waiter.set_result(None)


class SharedFetches:
    """All fetches of this process that may be kept."""

    LONER_S = 60.0
    """For so long nobody waits for a fetch of what could not be shared the last time."""
    LONERS = 10_000

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._leaders: dict[str, SharedFetch] = {}
        self._all: set[SharedFetch] = set()
        self._loners: OrderedDict[str, int] = OrderedDict()

    def leader(self, key: str) -> SharedFetch | None:
        """The fetch that others should wait for, if there is one."""
        return self._leaders.get(key)

    def is_loner(self, key: str) -> bool:
        """Whether waiting for somebody else's answer would be in vain."""
        until = self._loners.get(key)
        return until is not None and self._clock.now() < until

    def begin(self, key: str, url: str, *, leads: bool) -> SharedFetch:
        """Note that a fetch begins, and whether others may wait for it."""
        shared_fetch = SharedFetch(key, url)
        self._all.add(shared_fetch)
        if leads:
            self._leaders[key] = shared_fetch
        return shared_fetch

    def end(self, shared_fetch: SharedFetch, outcome: FetchOutcome) -> None:
        """Note how it ended, and let those who waited go on. Only the first word counts."""
        if shared_fetch not in self._all:
            return
        self._all.remove(shared_fetch)
        if self._leaders.get(shared_fetch.key) is shared_fetch:
            del self._leaders[shared_fetch.key]
        self._remember(shared_fetch.key, outcome)
        shared_fetch.land(outcome)

    def outdate(self, url: str) -> None:
        """Something was changed at this URL: what is under way must not be kept."""
        for shared_fetch in self._all:
            if shared_fetch.url == url:
                shared_fetch.outdated = True

    def _remember(self, key: str, outcome: FetchOutcome) -> None:
        if outcome is FetchOutcome.KEPT:
            self._loners.pop(key, None)
        elif outcome is FetchOutcome.ALONE:
            self._loners[key] = self._clock.now() + round(self.LONER_S * MICROSECONDS)
            self._loners.move_to_end(key)
            if len(self._loners) > self.LONERS:
                self._loners.popitem(last=False)
