"""Additive increase, multiplicative decrease of a rate, in windows of one second."""

from __future__ import annotations

from benchmarks.pacing.rules.rule import Reply, Rule


class Sawtooth(Rule):
    """Two a second more after a window without refusals, half after one with."""

    START = 10.0
    STEP = 2.0
    CUT = 0.5
    FLOOR = 0.2

    def __init__(self) -> None:
        self._rate = self.START
        self._next_at = 0.0
        self._window_ends_at = 1.0
        self._refused = False

    def gate(self, now: float, in_flight: int) -> float:
        return max(now, self._next_at)

    def on_send(self, now: float, in_flight: int) -> None:
        self._next_at = max(self._next_at, now) + 1 / self._rate

    def on_reply(self, reply: Reply) -> None:
        self._refused |= reply.refused
        if reply.now < self._window_ends_at:
            return
        if self._refused:
            self._rate = max(self.FLOOR, self._rate * self.CUT)
        else:
            self._rate += self.STEP
        self._window_ends_at, self._refused = reply.now + 1.0, False
