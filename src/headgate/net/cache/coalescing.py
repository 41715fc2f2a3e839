"""Request coalescing: one caller fetches, the others wait for it."""

import asyncio
from collections import OrderedDict
from enum import Enum
from typing import Any

from headgate.ports.clock import Clock

MICROSECONDS = 1_000_000


class FetchOutcome(Enum):
    KEPT = "kept"
    """The reply is in the cache, fresh."""
    ALONE = "alone"
    """The reply cannot be shared: each caller sends its own request."""
    FAILED = "failed"
    """The fetch failed: the next caller tries, and the others wait again."""


class SharedFetch:
    STALL_S = 30.0
    """Seconds without progress after which a body is not worth waiting for.

    A caller that reads one URL twice at a time would otherwise wait for itself.
    """

    __slots__ = ("_end", "_head", "_outcome", "_pieces", "key", "outdated", "url")

    def __init__(self, key: str, url: str) -> None:
        self.key = key
        self.url = url
        self.outdated = False
        """The URL was changed since the fetch began, so the reply may be older than the change."""
        self._outcome: FetchOutcome | None = None
        self._pieces = 0
        # Few fetches are waited for, so the first waiting caller makes these.
        self._head: asyncio.Future[None] | None = None
        self._end: asyncio.Future[None] | None = None

    @property
    def finished(self) -> bool:
        return self._outcome is not None

    def grow(self) -> None:
        self._pieces += 1
        wake(self._head)

    def finish(self, outcome: FetchOutcome) -> None:
        """End the fetch; only the first outcome counts."""
        self._outcome = self._outcome or outcome
        wake(self._head)
        wake(self._end)

    async def wait(self, clock: Clock) -> FetchOutcome:
        """Wait for the head without a limit, as gates may delay it; then while the body grows."""
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
            if pieces == self._pieces and not self.finished:
                return FetchOutcome.ALONE
        return self._outcome


def wake(waiter: "asyncio.Future[None] | None") -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)


class SharedFetches:
    UNSHAREABLE_S = 60.0
    """Seconds for which callers do not wait for a URL whose last reply could not be shared."""
    UNSHAREABLE_KEYS = 10_000

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._leaders: dict[str, SharedFetch] = {}
        self._all: set[SharedFetch] = set()
        self._unshareable: OrderedDict[str, int] = OrderedDict()

    def leader(self, key: str) -> SharedFetch | None:
        return self._leaders.get(key)

    def is_unshareable(self, key: str) -> bool:
        until = self._unshareable.get(key)
        return until is not None and self._clock.now() < until

    def begin(self, key: str, url: str, *, leads: bool) -> SharedFetch:
        shared_fetch = SharedFetch(key, url)
        self._all.add(shared_fetch)
        if leads:
            self._leaders[key] = shared_fetch
        return shared_fetch

    def end(self, shared_fetch: SharedFetch, outcome: FetchOutcome) -> None:
        if shared_fetch not in self._all:
            return
        self._all.remove(shared_fetch)
        if self._leaders.get(shared_fetch.key) is shared_fetch:
            del self._leaders[shared_fetch.key]
        self._remember(shared_fetch.key, outcome)
        shared_fetch.finish(outcome)

    def outdate(self, url: str) -> None:
        """Mark all fetches of a changed URL: their replies must not be stored."""
        for shared_fetch in self._all:
            if shared_fetch.url == url:
                shared_fetch.outdated = True

    def _remember(self, key: str, outcome: FetchOutcome) -> None:
        if outcome is FetchOutcome.KEPT:
            self._unshareable.pop(key, None)
        elif outcome is FetchOutcome.ALONE:
            self._unshareable[key] = self._clock.now() + round(self.UNSHAREABLE_S * MICROSECONDS)
            self._unshareable.move_to_end(key)
            if len(self._unshareable) > self.UNSHAREABLE_KEYS:
                self._unshareable.popitem(last=False)
