"""Guessing passwords takes time: so many failures in a while, then a rest."""

from collections import OrderedDict, deque

from headgate.ports.clock import Clock


class LoginLimit:
    """Failures by name and by address, over the last five minutes."""

    WINDOW_S = 300.0
    KEPT = 10_000
    """Names and addresses that are remembered, those that failed last."""

    def __init__(self, clock: Clock, tries: int) -> None:
        self._clock = clock
        self._tries = tries
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()

    def wait_s(self, *keys: str) -> float:
        """How long they must rest before the next try; 0: not at all."""
        now = self._clock.monotonic()
        return max((self._rest(key, now) for key in keys), default=0.0)

    def failed(self, *keys: str) -> None:
        """Note a failure."""
        for key in keys:
            self._failures.setdefault(key, deque(maxlen=self._tries)).append(
                self._clock.monotonic()
            )
            self._failures.move_to_end(key)
        while len(self._failures) > self.KEPT:
            self._failures.popitem(last=False)

    def _rest(self, key: str, now: float) -> float:
        failures = self._failures.get(key)
        if failures is None or len(failures) < self._tries:
            return 0.0
        return max(failures[0] + self.WINDOW_S - now, 0.0)
