"""Providers in miniature, and a pace that is driven against them in virtual time."""

import heapq
import math
from collections import deque
from collections.abc import Callable, Mapping
from typing import NamedTuple

from headgate.core.pacing.pace import Pace
from tests.kit.pace_run import START

Takes = Callable[[float], bool]
"""Whether a request that arrives at that moment is taken."""
Tells = Callable[[float], Mapping[str, str]]
"""The headers of a refusal at that moment."""
NOTHING: Mapping[str, str] = {}


class Bucket:
    """A number of requests a second, and a burst; both may be changed."""

    def __init__(self, rate: float, burst: float = 1.0) -> None:
        self.rate = rate
        self._burst = self._tokens = burst
        self._filled_at = START

    def __call__(self, now: float) -> bool:
        """Take it, if there is a token."""
        gained = (now - self._filled_at) * self.rate
        self._tokens, self._filled_at = min(self._tokens + gained, self._burst), now
        taken = self._tokens >= 1
        self._tokens -= taken
        return taken


class FixedWindow:
    """A number of requests in each of equal stretches of time."""

    def __init__(self, count: int, seconds: float, phase: float = 0.3) -> None:
        self._count, self._seconds, self._phase_s = count, seconds, phase * seconds
        self._window, self._used = -1, 0

    def left_s(self, now: float) -> float:
        """How long until the next stretch begins."""
        return self._seconds - (now - START + self._phase_s) % self._seconds

    def __call__(self, now: float) -> bool:
        """Take it, if this stretch has room."""
        window = math.floor((now - START + self._phase_s) / self._seconds)
        if window != self._window:
            self._window, self._used = window, 0
        self._used += 1
        return self._used <= self._count


class SlidingWindow:
    """A number of requests in any stretch of that length."""

    def __init__(self, count: int, seconds: float) -> None:
        self._count, self._seconds = count, seconds
        self._taken: deque[float] = deque()

    def __call__(self, now: float) -> bool:
        """Take it, if fewer were taken recently."""
        while self._taken and self._taken[0] <= now - self._seconds:
            self._taken.popleft()
        if len(self._taken) >= self._count:
            return False
        self._taken.append(now)
        return True


class Tally(NamedTuple):
    """What became of the requests of a run."""

    taken: int
    refused: int


class Client:
    """Sends as much as the pace lets out; every answer takes the same time."""

    def __init__(
        self, takes: Takes, *, latency: float = 0.1, told: Tells = lambda _: NOTHING
    ) -> None:
        self.pace = Pace()
        self.now = START
        self._takes, self._latency, self._told = takes, latency, told
        self._flying: list[tuple[float, float, int, bool]] = []

    def work(self, seconds: float) -> Tally:
        """Go on for `seconds`."""
        end, taken, refused = self.now + seconds, 0, 0
        while self.now < end:
            at = self.pace.gate(self.now, len(self._flying))
            back = self._flying[0][0] if self._flying else math.inf
            if at <= self.now:
                self._send()
                continue
            self.now = min(at, back, end)
            if self.now == back:
                accepted = self._hear()
                taken, refused = taken + accepted, refused + (not accepted)
        return Tally(taken, refused)

    def _send(self) -> None:
        in_flight = len(self._flying) + 1
        self.pace.on_send(self.now, in_flight)
        reply = (self.now + self._latency, self.now, in_flight, self._takes(self.now))
        heapq.heappush(self._flying, reply)

    def _hear(self) -> bool:
        back, sent_at, in_flight, accepted = heapq.heappop(self._flying)
        status, told = (200, NOTHING) if accepted else (429, self._told(back))
        self.pace.on_reply(back, sent_at, in_flight, status, told, self._latency)
        return accepted
