"""Time between two requests to a host that asks for it with `Crawl-delay`.

It is kept here, before the gates, and not by a gate: gates keep what is configured or learned, and
their ledger is shared, while this is known only to a process that has read the host's robots.txt.
So each process keeps it for its own requests. Whoever is let through here waits for the gates next,
and the next one is not let through before that has ended: what counts is when a request leaves.
"""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.net.routes import Target
from headgate.ports.clock import Clock


class CrawlDelayed(AttemptOver):
    """Its turn comes too late to wait for it here; that costs no attempt."""

    def __init__(self, host: str, delay_s: float, wait_s: float) -> None:
        reason = f"robots.txt of {host} asks for {delay_s:g} s between two requests"
        super().__init__(Fault(FaultClass.THROTTLED, reason, wait_s, host))


class CrawlDelay:
    """Lets the requests of one host go one by one."""

    LONGEST_S = 3_600.0
    """Nobody is sent away for longer."""

    def __init__(self, host: str, clock: Clock) -> None:
        self._host = host
        self._clock = clock
        self._turn = asyncio.Lock()
        self._standing = 0
        self._sent_s = -math.inf
        self._promised_s = 0.0
        self.delay_s = 0.0

    @property
    def cause(self) -> str:
        """What a request waits for here."""
        return f"crawl-delay: robots.txt asks for {self.delay_s:g} s between two requests"

    @asynccontextmanager
    async def turn(self, patience_s: float) -> AsyncIterator[float]:
        """Wait for it, and say how long that took; the next one comes after the block."""
        began_s = self._clock.monotonic()
        self._send_away_if_late(began_s, patience_s)
        self._standing += 1
        try:
            async with self._turn:
                wait_s = self._sent_s + self.delay_s - self._clock.monotonic()
                if wait_s > 0.0:
                    await self._clock.sleep(wait_s)
                yield self._clock.monotonic() - began_s
                self._sent_s = self._clock.monotonic()
        finally:
            self._standing -= 1

    def _send_away_if_late(self, now: float, patience_s: float) -> None:
        """Each one that is sent away gets a time of its own, so that they do not return at once."""
        turn_s = max(self._sent_s + self.delay_s, now) + self._standing * self.delay_s
        if turn_s - now <= patience_s:
            return
        back_s = max(turn_s, self._promised_s + self.delay_s)
        self._promised_s = min(back_s, now + self.LONGEST_S)
        raise CrawlDelayed(self._host, self.delay_s, self._promised_s - now)


class CrawlDelays:
    """Those of all places that have asked for it."""

    MOST = 20_000
    """Places that are remembered; whoever asked first makes room."""
    LONGEST_S = 60.0
    """Nobody gets more between two requests, whatever is asked for."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._spacings: dict[str, CrawlDelay] = {}

    def of(self, place: Target) -> CrawlDelay | None:
        """That of a place, if it has one."""
        return self._spacings.get(place.text)

    def ask(self, place: Target, delay_s: float | None) -> None:
        """What a place asks for now; most ask for nothing."""
        found = self._spacings.get(place.text)
        if found is None:
            if not delay_s:
                return
            if len(self._spacings) >= self.MOST:
                del self._spacings[next(iter(self._spacings))]
            found = self._spacings[place.text] = CrawlDelay(place.host, self._clock)
        found.delay_s = min(delay_s or 0.0, self.LONGEST_S)
