"""How many requests of one process are in flight on average."""

import math


class Flying:
    """The mean of about the last second, from how long answers took."""

    SPAN_S = 1.0

    def __init__(self) -> None:
        self.mean = 0.0
        """As of the last turn."""
        self._since = -math.inf
        self._busy_s = 0.0

    def landed(self, latency: float) -> None:
        """An answer came, after so many seconds."""
        self._busy_s += latency

    def at(self, now: float) -> float:
        """The mean with what came since the last turn."""
        seconds = now - self._since
        if not 0 < seconds < math.inf:
            return self.mean
        weight = 1 - math.exp(-seconds / self.SPAN_S)
        return self.mean + weight * (self._busy_s / seconds - self.mean)

    def turn(self, now: float) -> None:
        """Begin to count anew."""
        self.mean = self.at(now)
        self._since, self._busy_s = now, 0.0
