"""Decide whether refusals have a cause other than the rate: requests in flight or an outage."""

import msgspec


class ConcurrencyEvidence(msgspec.Struct):
    taken: dict[int, int] = {}
    total: int = 0
    refused: list[int] = []
    confirmed: int = 0
    """Probes in a row that found the same cap."""
    doubts: int = 0
    """Refusals in a row with no more than the cap in flight."""

    KEEP = 1500
    FEW = 3
    """Requests in flight that do not count as many: this number varies with the rate."""
    ENOUGH = 3
    RARE = 0.04
    """At a steady rate: share of requests accepted with as many in flight that counts as chance."""
    SURE = 2
    NEVER = 0.003
    """At any rate: share of at least `MANY` requests that counts as none."""
    MANY = 150

    def took(self, in_flight: int) -> None:
        """A request was accepted; `in_flight` includes it."""
        self.taken[in_flight] = self.taken.get(in_flight, 0) + 1
        self.total += 1
        if self.total > 2 * self.KEEP:
            self.taken = {f: n // 2 for f, n in self.taken.items() if n > 1}
            self.total = sum(self.taken.values())

    def refuse(self, in_flight: int) -> None:
        """A request was refused; `in_flight` includes it."""
        self.refused = [*self.refused[1 - self.ENOUGH :], in_flight]

    def limit(self, *, steady: bool) -> int | None:
        """The least number at the last refusals, if hardly any request is accepted with as many."""
        least, number = min(self.refused), len(self.refused)
        as_many = sum(n for f, n in self.taken.items() if f >= least)
        never = self.total >= self.MANY and as_many <= self.NEVER * self.total
        sure = number >= self.SURE and never
        rare = steady and number >= self.ENOUGH and as_many <= self.RARE * self.total
        return least if least > self.FEW and (sure or rare) else None

    @property
    def enough(self) -> bool:
        return len(self.refused) >= self.ENOUGH


class OutageEvidence(msgspec.Struct):
    speed: float = 0.0
    """Requests a second at the first bare 503; 0: none came recently."""
    since: float = 0.0
    slow: int = 0
    """Replies at a third of `speed` or less."""
    bare: int = 0
    """Bare 503s among these replies."""
    until: float = 0.0
    """Bare 503s are not refusals until then."""

    ENOUGH = 12
    SHARE = 0.3
    LASTS_S = 300.0
    FORGET_S = 120.0

    def refuses(self, now: float) -> bool:
        return now >= self.until

    def suspect(self, now: float, rate: float) -> None:
        if not self.speed or now - self.since > self.FORGET_S:
            self.speed, self.slow, self.bare = rate, 0, 0
        self.since = now

    def acquit(self, now: float, rate: float, *, bare: bool, alone: bool) -> float | None:
        """Apply a reply; the rate to return to if our rate was not the cause, else None."""
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
