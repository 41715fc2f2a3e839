"""The breakers of this process, one for each host."""

from collections.abc import Mapping
from random import Random

from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.gates.breaker import Breaker, BreakerPolicy, BreakerState, Failure
from headgate.net.failure import WireFailure
from headgate.ports.clock import Clock
from headgate.ports.gate import Hosts, HostTrouble, NoHosts, Turn

GATEWAY = frozenset({502, 503, 504})
"""Statuses with which a proxy reports that the host behind it does not answer."""


class BreakerOpen(AttemptOver):
    """The host does not answer and is left alone for a while; this costs no attempt."""

    def __init__(self, host: str, why: str, wait_s: float) -> None:
        reason = f"{no_answer_text(host, why)}; the next try is in {wait_s:.1f} s"
        super().__init__(Fault(FaultClass.THROTTLED, reason, wait_s, host))


class HostGone(AttemptOver):
    """The host has not answered for longer than its items may wait."""

    code = "host-gone"

    def __init__(self, host: str, why: str, away_s: float) -> None:
        reason = f"{no_answer_text(host, why)}; gave up after {span_text(away_s)}"
        super().__init__(Fault(FaultClass.STALLED, reason, gate=host))


def no_answer_text(host: str, why: str) -> str:
    if why.startswith("answers "):
        return f"{host} {why} to every request"
    return f"{host} does not answer ({why})" if why else f"{host} does not answer"


def span_text(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"


class Breakers:
    MOST = 20_000
    """Most hosts that are watched at a time; beyond it the oldest is dropped."""

    def __init__(
        self, policy: BreakerPolicy, clock: Clock, rng: Random, hosts: Hosts | None = None
    ) -> None:
        self._policy = policy
        self._hosts = hosts or NoHosts()
        self._clock = clock
        self._rng = rng
        self._by_host: dict[str, Breaker] = {}
        self._why: dict[str, str] = {}
        """The last failure of each host whose breaker is not closed."""

    @property
    def troubled(self) -> Mapping[str, Breaker]:
        return {
            host: breaker
            for host, breaker in self._by_host.items()
            if breaker.state is not BreakerState.CLOSED
        }

    def of(self, host: str) -> Breaker:
        return self._by_host.get(host) or self._watch(host)

    def check(self, host: str, breaker: Breaker, turn: Turn) -> None:
        """Raise BreakerOpen or HostGone if this host must not be asked now."""
        if breaker.wait_s(self._clock.monotonic(), elsewhere=turn.elsewhere) > 0.0:
            raise self._stop(host, breaker, turn)

    def admit(self, host: str, breaker: Breaker, turn: Turn) -> int:
        """Return the number to report the result under; raise BreakerOpen or HostGone."""
        if breaker.state is BreakerState.CLOSED:
            return breaker.epoch
        number = breaker.admit(self._clock.monotonic(), elsewhere=turn.elsewhere)
        if number is None:
            raise self._stop(host, breaker, turn)
        # Until the trial has ended, no other request is worth sending.
        self._tell(host, breaker, turn, breaker.wait_s(self._clock.monotonic()))
        return number

    def answered_badly(
        self, host: str, breaker: Breaker, number: int, turn: Turn, status: int
    ) -> None:
        failure = Failure.UNANSWERED if status in GATEWAY else Failure.ERROR
        if failure is Failure.ERROR and not breaker.answered:
            self.answers(host, breaker)
        self._failed(host, breaker, number, turn, (failure, f"answers {status}"))

    def unanswered(
        self, host: str, breaker: Breaker, number: int, turn: Turn, failure: WireFailure
    ) -> None:
        """The host did not answer.

        A request that was never sent costs its item no attempt if the host has answered before. The
        item ends if the host has been away for too long.
        """
        kind = Failure.UNANSWERED if failure.sent else Failure.UNREACHED
        self._failed(host, breaker, number, turn, (kind, failure.why))
        if failure.sent or number < 0:
            return
        now = self._clock.monotonic()
        if breaker.gave_up(now):
            failure.ending = HostGone(host, failure.why, now - breaker.since_s).ending
        elif breaker.answered:
            wait_s = max(breaker.wait_s(now), self._policy.cooldown_s)
            failure.ending = BreakerOpen(host, failure.why, wait_s).ending

    def succeeded(self, host: str, breaker: Breaker, number: int) -> None:
        epoch = breaker.epoch
        breaker.succeeded(number, self._clock.monotonic())
        if breaker.epoch != epoch:
            self._closed(host)

    def answers(self, host: str, breaker: Breaker) -> None:
        breaker.answered = True
        self._hosts.answers(host)

    def _failed(
        self,
        host: str,
        breaker: Breaker,
        number: int,
        turn: Turn,
        what: tuple[Failure, str],
    ) -> None:
        failure, why = what
        epoch, now = breaker.epoch, self._clock.monotonic()
        if not breaker.answered and self._hosts.has_answered(host):
            breaker.answered = True
        breaker.failed(number, now, self._rng, failure, again=turn.again)
        if breaker.epoch == epoch:
            return
        if breaker.state is BreakerState.CLOSED:
            self._closed(host)
        else:
            self._why[host] = why
            self._tell(host, breaker, turn, breaker.reopens_s - now)

    def _tell(self, host: str, breaker: Breaker, turn: Turn, for_s: float) -> None:
        gave_up = breaker.gave_up(self._clock.monotonic())
        trouble = HostTrouble(for_s, self._why.get(host, ""), gave_up, breaker.in_doubt)
        self._hosts.is_down(host, trouble, turn.job_id)

    def _stop(self, host: str, breaker: Breaker, turn: Turn) -> AttemptOver:
        now, why = self._clock.monotonic(), self._why.get(host, "")
        self._hosts.keeps_waiting(host, turn.job_id)
        if breaker.gave_up(now):
            return HostGone(host, why, now - breaker.since_s)
        return BreakerOpen(host, why, breaker.wait_s(now, elsewhere=turn.elsewhere))

    def _closed(self, host: str) -> None:
        self._why.pop(host, None)
        self._hosts.is_up(host)

    def _watch(self, host: str) -> Breaker:
        if len(self._by_host) >= self.MOST:
            gone = next(iter(self._by_host))
            del self._by_host[gone]
            self._why.pop(gone, None)
        breaker = self._by_host[host] = Breaker(self._policy)
        return breaker
