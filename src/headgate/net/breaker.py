"""The breakers of this process, one for each host."""

from collections.abc import Callable, Mapping
from random import Random

from headgate.core.breaker import Breaker, BreakerPolicy, BreakerState
from headgate.core.ending import AttemptOver
from headgate.core.fault import Fault, FaultClass
from headgate.ports.clock import Clock


class BreakerOpen(AttemptOver):
    """The host has not answered of late and is left alone for a while; that costs no attempt."""

    def __init__(self, host: str, wait_s: float) -> None:
        reason = f"{host} does not answer; it is asked again in {wait_s:.1f} s"
        super().__init__(Fault(FaultClass.THROTTLED, reason, wait_s, host))


UNANSWERED = frozenset({0, 502, 503, 504})
"""Nobody answered, or somebody in between says that nobody did."""
OnBroken = Callable[[str, float | None], None]
"""Hears of a host that is left alone for so many seconds, or answers again (None)."""


def ignore(_host: str, _seconds: float | None) -> None:
    """Nobody wants to hear of it."""


class Breakers:
    """Finds the breaker of a host, and gives it time and chance."""

    MOST = 20_000
    """Hosts that are watched at a time; whoever was watched longest makes room."""

    def __init__(
        self, policy: BreakerPolicy, clock: Clock, rng: Random, on_broken: OnBroken = ignore
    ) -> None:
        self._policy = policy
        self._on_broken = on_broken
        self._clock = clock
        self._rng = rng
        self._by_host: dict[str, Breaker] = {}

    @property
    def troubled(self) -> Mapping[str, Breaker]:
        """Every host that is not simply answering."""
        return {
            host: breaker
            for host, breaker in self._by_host.items()
            if breaker.state is not BreakerState.CLOSED
        }

    def of(self, host: str) -> Breaker:
        """The breaker of a host."""
        return self._by_host.get(host) or self._watch(host)

    def check(self, host: str, breaker: Breaker) -> None:
        """BreakerOpen if this host would not be asked now."""
        wait_s = breaker.wait_s(self._clock.monotonic())
        if wait_s > 0.0:
            raise BreakerOpen(host, wait_s)

    def admit(self, host: str, breaker: Breaker) -> int:
        """The number under which the verdict on a request is to be given; or BreakerOpen."""
        if breaker.state is BreakerState.CLOSED:
            return breaker.epoch
        now = self._clock.monotonic()
        number = breaker.admit(now)
        if number is None:
            raise BreakerOpen(host, breaker.wait_s(now))
        return number

    def failed(self, host: str, breaker: Breaker, number: int, status: int = 0) -> None:
        """The host did not answer, or only with an error of its own."""
        epoch, now = breaker.epoch, self._clock.monotonic()
        breaker.failed(number, now, self._rng, answered=status not in UNANSWERED)
        if breaker.epoch != epoch:
            self._on_broken(host, breaker.reopens_s - now)

    def succeeded(self, host: str, breaker: Breaker, number: int) -> None:
        """The host answered; a refusal is an answer too."""
        epoch = breaker.epoch
        breaker.succeeded(number, self._clock.monotonic())
        if breaker.epoch != epoch:
            self._on_broken(host, None)

    def _watch(self, host: str) -> Breaker:
        if len(self._by_host) >= self.MOST:
            del self._by_host[next(iter(self._by_host))]
        breaker = self._by_host[host] = Breaker(self._policy)
        return breaker
