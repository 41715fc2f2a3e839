"""A pace that is driven by hand: one request after the other, on a clock that the test moves."""

import math

from headgate.core.pacing.pace import Pace

START = 1_800_000_000.0
LATENCY = 0.1


class Run:
    """Sends one request after the other, each answered after a tenth of a second."""

    def __init__(self, pace: Pace | None = None) -> None:
        self.pace = pace or Pace()
        self.now = START

    def send(self, status: int = 200, **headers: str) -> float:
        """The next request, as soon as it may go; when that was."""
        at = max(self.pace.gate(self.now, 0), self.now)
        assert math.isfinite(at)
        self.pace.on_send(at, 1)
        self.now = at + LATENCY
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.pace.on_reply(self.now, at, 1, status, named, LATENCY)
        return at

    def deliver(self, count: int, **headers: str) -> None:
        """The number of requests that were accepted."""
        for _ in range(count):
            self.send(200, **headers)

    def for_seconds(self, seconds: float, **headers: str) -> int:
        """As many as go out in that time; how many."""
        end, count = self.now + seconds, 0
        while self.now < end:
            self.send(200, **headers)
            count += 1
        return count
