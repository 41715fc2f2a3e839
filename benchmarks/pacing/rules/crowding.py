"""How many are in flight when answers come, when they are refused, and when they are slow."""

from __future__ import annotations

from collections import deque

from benchmarks.pacing.rules.level import NO_LIMIT, Level


class Crowding:
    """Learns a cap on what is in flight, where that and not the rate is the provider's limit."""

    RARE = 0.04
    """A count is to blame for refusals if at most this share of the answers came at it."""

    def __init__(self) -> None:
        self.cap = Level.unlimited()
        self._accepted: deque[int] = deque(maxlen=1500)
        self._refused: deque[int] = deque(maxlen=3)
        self._latencies: list[float] = []
        self._most_in_flight = 0
        self._window_ends_at = 0.0
        self._usual_s: float | None = None

    def full(self, in_flight: int) -> bool:
        """Whether another one would be too many."""
        return in_flight >= max(1, int(self.cap.value() * 1.0205))

    def accepted(self, in_flight: int) -> None:
        """A reply to a request; `in_flight` was the number of requests when it was sent."""
        self._accepted.append(in_flight)

    def confirms(self, in_flight: int, hold_s: float) -> bool:
        """Whether a refusal was to be expected at this count; the cap may come down by that."""
        known = self.cap.known or NO_LIMIT
        if known >= NO_LIMIT or in_flight < known - 1:
            return False
        self.cap.learn(min(known, max(in_flight - 1, 1)), hold_s)
        return True

    def suspects(self, in_flight: int, hold_s: float) -> bool:
        """Whether three refusals in a row came at counts that hardly ever were accepted."""
        self._refused.append(in_flight)
        if len(self._refused) < 3:
            return False
        lowest = min(self._refused)
        as_crowded = sum(count >= lowest for count in self._accepted)
        if lowest > 2 and as_crowded <= self.RARE * len(self._accepted):
            self.cap.learn(lowest - 1, hold_s)
            return True
        if (self.cap.known or NO_LIMIT) < NO_LIMIT:  # refused well below it: it is not the cap
            self.cap.learn(NO_LIMIT, 0.0)
        return False

    def timed(self, now: float, in_flight: int, latency_s: float) -> None:
        """By Little's law, answers that take twice as long as usual have queued at the server."""
        self._latencies.append(latency_s)
        self._most_in_flight = max(self._most_in_flight, in_flight)
        if now < self._window_ends_at or len(self._latencies) < 60:
            return
        mean_s = sum(self._latencies) / len(self._latencies)
        most = self._most_in_flight
        self._latencies, self._most_in_flight, self._window_ends_at = [], 0, now + 1.0
        usual_s = mean_s if self._usual_s is None else min(mean_s, self._usual_s * 1.002)
        self._usual_s = usual_s
        if mean_s > 2 * usual_s and most > 4:
            self.cap.learn(max(2.0, 1.3 * most * usual_s / mean_s), 30.0)
