"""Whether a bare 503 asks us to slow down, or the provider is just out of order.

nginx refuses by a bare 503 unless told otherwise, so it is taken for a refusal at first. If it
comes as often at a third of the speed, it does not follow our rate: then it is no refusal, and
what was believed before is restored.
"""

import msgspec


class Outage(msgspec.Struct):
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
