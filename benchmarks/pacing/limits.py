"""The laws by which a provider accepts or refuses a request that has just arrived."""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple

JITTER_S = 0.0205
"""Requests that leave this far apart at least arrive in the order they left."""
MARGIN = 0.995
"""An oracle stays this far below a bucket's rate, so that rounding never empties it."""


class Policy(NamedTuple):
    """What a RateLimit-Policy field would say."""

    quota: float
    window_s: float


class Decision(NamedTuple):
    """The answer to one request, with what a polite provider would tell about its limit."""

    accepted: bool
    wait_s: float
    remaining: int
    reset_s: float


class Limit:
    """One limit, and what an oracle must know to use it up without ever being refused."""

    def __init__(self) -> None:
        self.scale = 1.0

    def rescale(self, now: float, scale: float) -> None:
        """From now on the limit is this many times what it was at first."""
        self.scale = scale

    def decide(self, now: float) -> Decision:
        """Accept or refuse the request that arrives now."""
        raise NotImplementedError

    def rate(self) -> float:
        """Requests a second, in the long run."""
        raise NotImplementedError

    def policy(self) -> Policy | None:
        """The limit in the words of a header; None if headers have no words for it."""
        raise NotImplementedError

    def safe_gap_s(self) -> float:
        """The least distance between requests at which none can be refused."""
        return 1 / (MARGIN * self.rate())

    def settling_s(self) -> float:
        """How long after a change what the old limit let through may still count."""
        return 0.0

    def capacity(self) -> int | None:
        """How many may be under way at once; None if it does not matter."""
        return None

    def entered(self) -> None:
        """The server has begun to work on an accepted request."""

    def left(self) -> None:
        """The server has finished one."""


class TokenBucket(Limit):
    """A token for each request; tokens arrive at a steady rate, up to a burst."""

    def __init__(self, per_second: float, burst: int) -> None:
        super().__init__()
        self._per_second = per_second
        self._burst = burst
        self._tokens = float(burst)
        self._filled_at = 0.0

    def rescale(self, now: float, scale: float) -> None:
        self._fill(now)
        super().rescale(now, scale)

    def decide(self, now: float, cost: int = 1) -> Decision:
        self._fill(now)
        rate = self.rate()
        accepted = self._tokens >= cost
        wait_s = 0.0 if accepted else (cost - self._tokens) / rate
        if accepted:
            self._tokens -= cost
        remaining = int(self._tokens) if accepted else 0
        return Decision(accepted, wait_s, remaining, (self._burst - self._tokens) / rate)

    def give_back(self) -> None:
        """Undo the last acceptance."""
        self._tokens += 1

    def rate(self) -> float:
        return self._per_second * self.scale

    def policy(self) -> Policy:
        return Policy(self.rate(), 1.0)

    def _fill(self, now: float) -> None:
        gained = (now - self._filled_at) * self._per_second * self.scale
        self._tokens = min(self._burst, self._tokens + gained)
        self._filled_at = now


class Window(Limit):
    """A number of requests in a number of seconds."""

    def __init__(self, count: int, seconds: float) -> None:
        super().__init__()
        self._count = count
        self._seconds = seconds

    def allowed(self) -> int:
        """How many go into a window at present."""
        return max(1, int(self._count * self.scale))

    def rate(self) -> float:
        return self.allowed() / self._seconds

    def policy(self) -> Policy:
        return Policy(self.allowed(), self._seconds)

    def safe_gap_s(self) -> float:
        return (self._seconds + JITTER_S) / self.allowed()

    def settling_s(self) -> float:
        return self._seconds + JITTER_S


class FixedWindow(Window):
    """The count restarts at the same moment for everyone; `phase` places that moment."""

    def __init__(self, count: int, seconds: float, phase: float = 0.37) -> None:
        super().__init__(count, seconds)
        self._phase_s = phase * seconds
        self._number: int | None = None
        self._used = 0

    def decide(self, now: float) -> Decision:
        number = math.floor((now + self._phase_s) / self._seconds)
        if number != self._number:
            self._number, self._used = number, 0
        reset_s = (number + 1) * self._seconds - self._phase_s - now
        allowed = self.allowed()
        if self._used >= allowed:
            return Decision(accepted=False, wait_s=reset_s, remaining=0, reset_s=reset_s)
        self._used += 1
        return Decision(True, 0.0, allowed - self._used, reset_s)  # noqa: FBT003 - hot path


class SlidingWindow(Window):
    """Every accepted request counts for exactly the length of the window."""

    def __init__(self, count: int, seconds: float) -> None:
        super().__init__(count, seconds)
        self._accepted: deque[float] = deque()

    def decide(self, now: float) -> Decision:
        accepted = self._accepted
        while accepted and accepted[0] <= now - self._seconds:
            accepted.popleft()
        allowed = self.allowed()
        if len(accepted) >= allowed:
            wait_s = accepted[0] + self._seconds - now
            return Decision(accepted=False, wait_s=wait_s, remaining=0, reset_s=wait_s)
        accepted.append(now)
        reset_s = accepted[0] + self._seconds - now
        return Decision(True, 0.0, allowed - len(accepted), reset_s)  # noqa: FBT003 - hot path


class Both(Limit):
    """Two limits at once, 10/s and 100/min, say: a refusal uses up neither."""

    def __init__(self, first: TokenBucket, second: Limit) -> None:
        super().__init__()
        self._first = first
        self._second = second

    def rescale(self, now: float, scale: float) -> None:
        self._first.rescale(now, scale)
        self._second.rescale(now, scale)

    def decide(self, now: float) -> Decision:
        first = self._first.decide(now)
        if not first.accepted:
            return first
        second = self._second.decide(now)
        if not second.accepted:
            self._first.give_back()
            return second
        return first if first.remaining < second.remaining else second

    def rate(self) -> float:
        return min(self._first.rate(), self._second.rate())

    def policy(self) -> Policy | None:
        return self._second.policy()


class InFlight(Limit):
    """A number of requests in flight, at any rate."""

    REFUSED = Decision(accepted=False, wait_s=0.1, remaining=0, reset_s=1.0)

    def __init__(self, count: int, mean_latency_s: float) -> None:
        super().__init__()
        self._count = count
        self._mean_latency_s = mean_latency_s
        self._under_way = 0

    def decide(self, now: float) -> Decision:
        allowed = self.capacity()
        if self._under_way >= allowed:
            return self.REFUSED
        return Decision(True, 0.0, allowed - self._under_way, 1.0)  # noqa: FBT003 - hot path

    def rate(self) -> float:
        return self._count * self.scale / self._mean_latency_s

    def policy(self) -> None:
        return None

    def capacity(self) -> int:
        return max(1, int(self._count * self.scale))

    def entered(self) -> None:
        self._under_way += 1

    def left(self) -> None:
        self._under_way -= 1
