"""One caller fetches, the others wait for it."""

import asyncio
from collections import OrderedDict
from enum import Enum
from typing import Any

from headgate.ports.clock import Clock

MICROSECONDS = 1_000_000


class Landing(Enum):
    """What those who waited make of the end of a fetch."""

    KEPT = "kept"
    """It is in the cache, fresh."""
    ALONE = "alone"
    """Such answers cannot be shared: everybody goes for their own."""
    FAILED = "failed"
    """There is no answer: the next one tries, and the others wait again."""


class Flight:
    """One fetch under way, whose answer may be of use to others."""

    STALL_S = 30.0
    """A body that did not grow for so long is not worth waiting for.

    Its reader may even be waiting for us: whoever reads one URL twice at a time waits for himself.
    """

    def __init__(self, key: str, url: str) -> None:
        self.key = key
        self.url = url
        self.outdated = False
        """Something was changed at its URL since it began: its answer may be older than that."""
        self._head = asyncio.get_running_loop().create_future()
        self._end: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pieces = 0

    @property
    def landed(self) -> bool:
        """Whether it is over."""
        return self._end.done()

    def grow(self) -> None:
        """The head, or another piece of the body, is there."""
        self._pieces += 1
        if not self._head.done():
            self._head.set_result(None)

    def land(self, landing: Landing) -> None:
        """It is over; only the first word counts."""
        if not self._end.done():
            self._end.set_result(landing)
        if not self._head.done():
            self._head.set_result(None)

    async def wait(self, clock: Clock) -> Landing:
        """Wait for its end: patiently for the head, which gates may hold up; then for progress."""
        await asyncio.shield(self._head)
        while not self._end.done():
            pieces = self._pieces
            pause: asyncio.Future[Any] = asyncio.ensure_future(clock.sleep(self.STALL_S))
            try:
                await asyncio.wait({self._end, pause}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                pause.cancel()
            if pieces == self._pieces and not self._end.done():
                return Landing.ALONE
        return Landing(self._end.result())


class Flights:
    """All fetches of this process that may be kept."""

    LONER_S = 60.0
    """For so long nobody waits for a fetch of what could not be shared the last time."""
    LONERS = 10_000

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._leaders: dict[str, Flight] = {}
        self._all: set[Flight] = set()
        self._loners: OrderedDict[str, int] = OrderedDict()

    def leader(self, key: str) -> Flight | None:
        """The fetch that others should wait for, if there is one."""
        return self._leaders.get(key)

    def is_loner(self, key: str) -> bool:
        """Whether waiting for somebody else's answer would be in vain."""
        until = self._loners.get(key)
        return until is not None and self._clock.now() < until

    def begin(self, key: str, url: str, *, leads: bool) -> Flight:
        """Note that a fetch begins, and whether others may wait for it."""
        flight = Flight(key, url)
        self._all.add(flight)
        if leads:
            self._leaders[key] = flight
        return flight

    def end(self, flight: Flight, landing: Landing) -> None:
        """Note how it ended, and let those who waited go on. Only the first word counts."""
        if flight not in self._all:
            return
        self._all.remove(flight)
        if self._leaders.get(flight.key) is flight:
            del self._leaders[flight.key]
        self._remember(flight.key, landing)
        flight.land(landing)

    def outdate(self, url: str) -> None:
        """Something was changed at this URL: what is under way must not be kept."""
        for flight in self._all:
            if flight.url == url:
                flight.outdated = True

    def _remember(self, key: str, landing: Landing) -> None:
        if landing is Landing.KEPT:
            self._loners.pop(key, None)
        elif landing is Landing.ALONE:
            self._loners[key] = self._clock.now() + round(self.LONER_S * MICROSECONDS)
            self._loners.move_to_end(key)
            if len(self._loners) > self.LONERS:
                self._loners.popitem(last=False)
