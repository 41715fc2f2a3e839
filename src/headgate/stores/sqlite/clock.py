"""The store's own time: it ticks with the machine and never goes backwards."""

import time
from collections.abc import Callable


def anchored_now() -> Callable[[], int]:
    """UTC microseconds that follow the wall clock as it was now, whatever it is set to later."""
    offset = time.time_ns() // 1_000 - time.monotonic_ns() // 1_000
    return lambda: offset + time.monotonic_ns() // 1_000


class StoreClock:
    """Stamps that grow over all processes on one file.

    The last stamp lies in the database. A process that finds it ahead of its own time (because
    somebody's wall clock jumped) moves its own time forward for good, so that due times go on
    ticking at the normal speed instead of standing still until the wall has caught up.
    """

    def __init__(self, now: Callable[[], int] | None = None) -> None:
        self._now = now or anchored_now()
        self._ahead = 0

    def now(self) -> int:
        """The time, without a claim to be later than anybody else's stamp."""
        return self._now() + self._ahead

    def not_before(self, last: int) -> int:
        """The time, moved forward if somebody's stamp is ahead of it."""
        now = self.now()
        if now < last:
            self._ahead += last - now
            return last
        return now

    def stamp_after(self, last: int) -> int:
        """A stamp later than `last`."""
        return self.not_before(last + 1)
