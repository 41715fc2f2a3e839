"""One learned quantity, a rate or a number in flight: where it stands and how it looks for more."""

import math

import msgspec


class Level(msgspec.Struct):
    """Unknown: grows from `start`. Known: stays just below for `hold_s`, then looks for more.

    Looking for more begins a little above what is known. The excess doubles slowly at first, so
    that a limit that has not moved is met gently, then fast, but never steeper than `SLOPE`.
    Only time in which this level was what held requests back counts as `age_s`.
    """

    start: float = 10.0
    known: float | None = None
    age_s: float = 0.0
    hold_s: float = 0.0
    margin: float = 0.985
    excess: float = 0.01
    slow_s: float = 2.0
    fast_s: float = 2.5
    most: float = 1e9
    """It looks for no more than this."""

    DOUBLING_S = 1.2
    CAUTION = 120.0
    """At an unknown provider one stop at this speed already costs as many as some ban for."""
    BEND = 0.25
    SLOPE = 15.0

    @property
    def probing(self) -> bool:
        """Whether it is looking for more."""
        return self.known is None or self.age_s >= self.hold_s

    def set(
        self, known: float, hold_s: float, slow_s: float, fast_s: float, excess: float = 0.01
    ) -> None:
        """Something was learned: stay there for a while."""
        self.known, self.hold_s, self.age_s = known, hold_s, 0.0
        self.slow_s, self.fast_s, self.excess, self.most = slow_s, fast_s, excess, 1e9

    @property
    def value(self) -> float:
        """What to go by now."""
        if self.known is None:
            return self._starting()
        beyond = self.age_s - self.hold_s
        if beyond < 0:
            return self.margin * self.known
        return min(self.known + self._excess(beyond), max(self.most, self.known))

    def _starting(self) -> float:
        straight = self.age_s - 2 * self.DOUBLING_S
        if straight < 0:
            return self.start * 2 ** (self.age_s / self.DOUBLING_S)
        value = self.start * (4 + straight * self.DOUBLING_S)
        caution = max(self.CAUTION, 4 * self.start)
        return value if value < caution else caution + (value - caution) / 3

    def _excess(self, beyond: float) -> float:
        known = self.known or 0.0
        bend_at = self.slow_s * math.log2(self.BEND / self.excess)
        if beyond < bend_at:
            return known * self.excess * 2 ** (beyond / self.slow_s)
        doublings = (beyond - bend_at) / self.fast_s
        excess = self.BEND * known
        steepest = self.SLOPE * self.fast_s / math.log(2)
        until = math.log2(max(steepest / excess, 1.0))
        if doublings < until:
            return excess * 2**doublings
        return excess * 2**until + self.SLOPE * (doublings - until) * self.fast_s
