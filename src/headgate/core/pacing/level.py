"""A learned quantity, a rate or a number in flight: its value and its search for more."""

import math

import msgspec


class Level(msgspec.Struct):
    """Unknown: grows from `start`. Known: stays just below for `hold_s`, then probes for more.

    A probe begins a little above the known value. The excess doubles slowly at first, so that an
    unchanged limit is met gently, then fast, but never steeper than `SLOPE`. Only time in which
    this level held requests back counts as `age_s`.
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
    """Upper end of a probe."""
    cheap: float = 40.0
    """Value up to which hardly any request is in flight when a refusal arrives."""
    resumed_at: float = 0.0
    """When it was used again after a long rest."""

    RAMP_S = 2.0
    RAMP_FROM = 0.25
    """Share of a remembered level to resume from, since the limit may have fallen."""
    DOUBLING_S = 1.2
    STRAIGHT = 0.3
    """Growth a second above `cheap`, as a share of `cheap`."""
    CAUTION = 3.0
    """Multiple of `cheap` at which one stop costs as many refusals as some providers ban for."""
    SLOWLY = 0.1
    """Factor on growth above that value, both when starting and when probing."""
    NEAR = 1.1
    """Multiple of the known value up to which a probe costs little at any rate."""
    BEND = 0.25
    SLOPE = 0.375
    """Steepest growth a second of a probe, as a share of `cheap`."""

    @property
    def probing(self) -> bool:
        return self.known is None or self.age_s >= self.hold_s

    def set(
        self, known: float, hold_s: float, slow_s: float, fast_s: float, excess: float = 0.01
    ) -> None:
        self.known, self.hold_s, self.age_s = known, hold_s, 0.0
        self.slow_s, self.fast_s, self.excess, self.most = slow_s, fast_s, excess, 1e9

    @property
    def value(self) -> float:
        if self.known is None:
            return self._starting()
        beyond = self.age_s - self.hold_s
        if beyond < 0:
            return self.margin * self.known
        dear = max(self.NEAR * self.known, self.CAUTION * self.cheap)
        value = self._carefully(self.known + self._excess(beyond), dear)
        return min(value, max(self.most, self.known))

    def speed(self, now: float) -> float:
        """`value`, reduced while a remembered level is being resumed."""
        return self.value * self._ramp(now)

    def resuming(self, now: float) -> bool:
        return self.known is not None and now < self.resumed_at + self.RAMP_S

    def _ramp(self, now: float) -> float:
        if not self.resuming(now):
            return 1.0
        return self.RAMP_FROM + (1 - self.RAMP_FROM) * (now - self.resumed_at) / self.RAMP_S

    def _starting(self) -> float:
        cheap = max(self.cheap, 4 * self.start)
        straight_s = self.age_s - self.DOUBLING_S * math.log2(cheap / self.start)
        if straight_s < 0:
            return self.start * 2 ** (self.age_s / self.DOUBLING_S)
        return self._carefully(cheap * (1 + self.STRAIGHT * straight_s), self.CAUTION * cheap)

    def _carefully(self, value: float, dear: float) -> float:
        return value if value < dear else dear + self.SLOWLY * (value - dear)

    def _excess(self, beyond: float) -> float:
        known = self.known or 0.0
        bend_at = self.slow_s * math.log2(self.BEND / self.excess)
        if beyond < bend_at:
            return known * self.excess * 2 ** (beyond / self.slow_s)
        doublings = (beyond - bend_at) / self.fast_s
        excess = self.BEND * known
        slope = self.SLOPE * self.cheap
        steepest = slope * self.fast_s / math.log(2)
        until = math.log2(max(steepest / excess, 1.0))
        if doublings < until:
            return excess * 2**doublings
        return excess * 2**until + slope * (doublings - until) * self.fast_s
