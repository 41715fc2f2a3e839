"""A quantity that the reference pacer learns: a rate, or a cap on what is in flight."""

from __future__ import annotations

import math

NO_LIMIT = 1e9


class Level:
    """Unknown, it grows. Known, it holds just below for a while, then dares a little more.

    `age_s` is the time for which this level was what held requests back: the time of others
    proves nothing about it.
    """

    DOUBLINGS = 2.585
    """It doubles until six times the start; from there on it grows in a straight line."""
    LONGEST_HOLD_S = 120.0

    def __init__(self, start: float, doubling_s: float, known: float | None = None) -> None:
        self.known = known
        self.told = False
        self.age_s = 0.0
        self._start = start
        self._doubling_s = doubling_s
        self._hold_s = 0.0 if known is None else math.inf
        self._excess_doubling_s = 2.0

    @classmethod
    def unlimited(cls) -> Level:
        """A cap that does not bind."""
        return cls(NO_LIMIT, 1.0, known=NO_LIMIT)

    def learn(self, value: float, hold_s: float, excess_doubling_s: float = 2.0) -> None:
        """Settle on a value, from what was observed."""
        self.known = value
        self._hold_s = min(hold_s, self.LONGEST_HOLD_S) if value < NO_LIMIT else math.inf
        self._excess_doubling_s = excess_doubling_s
        self.age_s = 0.0
        self.told = False

    def probing(self) -> bool:
        """Whether it is above what is known to hold."""
        return self.known is None or (self.age_s >= self._hold_s and not self.told)

    def value(self) -> float:
        """What to go by now."""
        if self.known is None:
            doublings = self.age_s / self._doubling_s
            if doublings < self.DOUBLINGS:
                return self._start * 2**doublings
            return self._start * (6 + 4.16 * (doublings - self.DOUBLINGS))
        if not self.probing():
            return (0.99 if self.told else 0.98) * self.known
        excess = 0.01 * 2 ** ((self.age_s - self._hold_s) / self._excess_doubling_s)
        return self.known * min(1 + excess, 64)
