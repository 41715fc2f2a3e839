"""Whether it is the number in flight that is refused, and not the rate."""

import msgspec


class ConcurrencyEvidence(msgspec.Struct):
    """How many were in flight with requests that were taken, and with the last ones refused."""

    taken: dict[int, int] = {}
    total: int = 0
    refused: list[int] = []
    confirmed: int = 0
    """How often in a row a look for more found the same cap."""
    doubts: int = 0
    """How often in a row no more than the cap were refused."""

    KEEP = 1500
    FEW = 3
    """So many are no crowd: they come and go with the rate."""
    ENOUGH = 3
    RARE = 0.04
    """At a steady rate, so small a share of those taken was taken in such a crowd by chance."""
    SURE = 2
    NEVER = 0.003
    """At whatever rate, so small a share of many is as good as none."""
    MANY = 150

    def took(self, in_flight: int) -> None:
        """One was taken with so many in flight, itself included."""
        self.taken[in_flight] = self.taken.get(in_flight, 0) + 1
        self.total += 1
        if self.total > 2 * self.KEEP:
            self.taken = {f: n // 2 for f, n in self.taken.items() if n > 1}
            self.total = sum(self.taken.values())

    def refuse(self, in_flight: int) -> None:
        """One was refused with so many in flight."""
        self.refused = [*self.refused[1 - self.ENOUGH :], in_flight]

    def limit(self, *, steady: bool) -> int | None:
        """The least of the last refusals, if so many are hardly ever taken."""
        least, number = min(self.refused), len(self.refused)
        as_many = sum(n for f, n in self.taken.items() if f >= least)
        never = self.total >= self.MANY and as_many <= self.NEVER * self.total
        sure = number >= self.SURE and never
        rare = steady and number >= self.ENOUGH and as_many <= self.RARE * self.total
        return least if least > self.FEW and (sure or rare) else None

    @property
    def enough(self) -> bool:
        """Whether there are refusals enough to judge by."""
        return len(self.refused) >= self.ENOUGH


class OutageEvidence(msgspec.Struct):
    """The present suspicion."""

    speed: float = 0.0
    """The rate at which the first one came; 0: none did lately."""
    since: float = 0.0
    slow: int = 0
    """Replies at a third of that speed or less."""
    bare: int = 0
    """Bare 503s among them."""
    until: float = 0.0
    """Until then bare 503s are none of our business."""

    ENOUGH = 12
    SHARE = 0.3
    LASTS_S = 300.0
    FORGET_S = 120.0

    def refuses(self, now: float) -> bool:
        """Whether a bare 503 counts as a refusal."""
        return now >= self.until

    def suspect(self, now: float, rate: float) -> None:
        """A bare 503 came at this rate."""
        if not self.speed or now - self.since > self.FORGET_S:
            self.speed, self.slow, self.bare = rate, 0, 0
        self.since = now

    def acquit(self, now: float, rate: float, *, bare: bool, alone: bool) -> float | None:
        """Take in a reply; the speed to go back to, if it was not our rate."""
        if not self.speed or not (alone or rate <= self.speed / 3):
            return None
        self.slow += 1
        self.bare += bare
        if self.slow < self.ENOUGH:
            return None
        speed, self.speed = self.speed, 0.0
        if self.bare < self.SHARE * self.slow:
            return None
        self.until = now + self.LASTS_S
        return speed
