"""Accepted requests over time: counts per slot of time, coarser the older they are."""

import math

import msgspec


class Tier(msgspec.Struct):
    """Counts in slots of one width, the newest last."""

    width: float
    keep: int
    first: int = 0
    """Number of the oldest slot kept, counted from time zero."""
    counts: list[int] = []
    whole: bool = True
    """No slot was dropped yet: before the first slot there was nothing."""

    def add(self, at: float) -> None:
        """Count one; a time older than the oldest slot is dropped."""
        slot = math.floor(at / self.width)
        counts = self.counts
        if not counts:
            self.first = slot
        place = slot - self.first
        if place < 0:
            self.whole = False
            return
        missing = place - len(counts) + 1
        if missing > self.keep:
            self.first, self.counts, self.whole = slot, [1], False
            return
        if missing > 0:
            counts.extend([0] * missing)
            if len(counts) > 2 * self.keep:
                del counts[: len(counts) - self.keep]
                self.first, self.whole = slot - self.keep + 1, False
                place = self.keep - 1
        counts[place] += 1

    @property
    def since(self) -> float:
        """Start of the time for which the tier has every count."""
        return self.first * self.width

    def count(self, after: float, until: float) -> float:
        """The count between two times; a slot that is partly inside counts in proportion."""
        width, first, counts = self.width, self.first, self.counts
        low = max(math.floor(after / width), first)
        high = min(math.floor(until / width), first + len(counts) - 1)
        if low > high:
            return 0.0
        total = float(sum(counts[low - first : high - first + 1]))
        if after > low * width:
            total -= counts[low - first] * min(after / width - low, 1.0)
        if until < (high + 1) * width:
            total -= counts[high - first] * (high + 1 - until / width)
        return max(total, 0.0)


def _tiers() -> list[Tier]:
    return [Tier(0.1, 60), Tier(1.0, 75), Tier(15.0, 60), Tier(120.0, 60)]


class Throughput(msgspec.Struct):
    tiers: list[Tier] = msgspec.field(default_factory=_tiers)

    def add(self, at: float) -> None:
        for tier in self.tiers:
            tier.add(at)

    def count(self, after: float, until: float) -> float:
        total = 0.0
        coarser = [tier.width for tier in self.tiers[1:]] + [self.tiers[-1].width]
        for tier, width in zip(self.tiers, coarser, strict=True):
            if tier.whole:
                return total + tier.count(after, until)
            edge = math.ceil(tier.since / width) * width  # so that no slot is counted twice
            start = max(after, edge)
            if start < until:
                total += tier.count(start, until)
                until = start
            if until <= after:
                break
        return total
