"""Time between two requests to a host that asks for it with `Crawl-delay`.

This is enforced before the gates, not by a gate: gates enforce configured and learned limits, and
their ledger is shared, while a crawl delay is known only to a process that has read the host's
robots.txt. So each process spaces its own requests. A request that passes here waits for the gates
next, and the next request passes only after that: what counts is when a request is sent.
"""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.net.routes import Target
from headgate.ports.clock import Clock


class CrawlDelayed(AttemptOver):
    """The request's turn comes too late to wait for it here; this costs no attempt."""

    def __init__(self, host: str, delay_s: float, wait_s: float) -> None:
        reason = f"robots.txt of {host} asks for {delay_s:g} s between two requests"
        super().__init__(Fault(FaultClass.THROTTLED, reason, wait_s, host))


class CrawlDelay:
    LONGEST_S = 3_600.0
    """Longest time in seconds for which an item is put off."""

    def __init__(self, host: str, clock: Clock) -> None:
        self._host = host
        self._clock = clock
        self._turn = asyncio.Lock()
        self._waiting = 0
        self._sent_s = -math.inf
        self._promised_s = 0.0
        self.delay_s = 0.0

    @property
    def cause(self) -> str:
        return f"crawl-delay: robots.txt asks for {self.delay_s:g} s between two requests"

    @asynccontextmanager
    async def turn(self, patience_s: float) -> AsyncIterator[float]:
        """Wait for the turn and yield the seconds waited; the next turn starts after the block."""
        began_s = self._clock.monotonic()
        self._put_off_if_late(began_s, patience_s)
        self._waiting += 1
        try:
            async with self._turn:
                wait_s = self._sent_s + self.delay_s - self._clock.monotonic()
                if wait_s > 0.0:
                    await self._clock.sleep(wait_s)
                yield self._clock.monotonic() - began_s
                self._sent_s = self._clock.monotonic()
        finally:
            self._waiting -= 1

    def _put_off_if_late(self, now: float, patience_s: float) -> None:
        """Put late requests off to different times, so that they do not all return together."""
        turn_s = max(self._sent_s + self.delay_s, now) + self._waiting * self.delay_s
        if turn_s - now <= patience_s:
            return
        back_s = max(turn_s, self._promised_s + self.delay_s)
        self._promised_s = min(back_s, now + self.LONGEST_S)
        raise CrawlDelayed(self._host, self.delay_s, self._promised_s - now)


class CrawlDelays:
    MOST = 20_000
    """Most hosts that are remembered; beyond it the oldest is dropped."""
    LONGEST_S = 60.0
    """Longest delay in seconds between two requests, even if a host asks for more."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._crawl_delays: dict[str, CrawlDelay] = {}

    def of(self, place: Target) -> CrawlDelay | None:
        return self._crawl_delays.get(place.text)

    def set_delay(self, place: Target, delay_s: float | None) -> None:
        """Set the delay that a host asks for now; None for most hosts."""
        found = self._crawl_delays.get(place.text)
        if found is None:
            if not delay_s:
                return
            if len(self._crawl_delays) >= self.MOST:
                del self._crawl_delays[next(iter(self._crawl_delays))]
            found = self._crawl_delays[place.text] = CrawlDelay(place.host, self._clock)
        found.delay_s = min(delay_s or 0.0, self.LONGEST_S)
