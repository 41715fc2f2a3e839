"""A breaker stops requests to a host that does not answer, and tries the host again later.

Closed: everything passes. Open: nothing passes until the cool-down is over. Half open: one trial
passes; its success closes the breaker, its failure opens it for longer.

A host may answer some rows with an error and all others well. So a failure counts against the host
only if it is evidence about the host: no connection could be made, or the row fails for the first
time. A row that failed before says nothing new, however often it is tried again.

Bad rows may be neighbours in the input. So a host that answers most rows with errors is only in
doubt: requests pause, and rows from other places in the input are tried, one after the other. The
breaker opens only if these fail too. If one is answered well, the errors are about the rows, and
the next doubt needs more failed rows.
"""

from collections import deque
from enum import StrEnum

import msgspec

from headgate.core.bounds import Count, Factor, Seconds, Share
from headgate.core.retry import Rng


class BreakerPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a host counts as down, and for how long."""

    failures: Count = 12
    """Requests in a row without an answer that open the breaker."""
    share: Share = 0.7
    """Share of the last `at_least` rows that must fail at their first try to put the host in doubt.
    """
    window_s: Seconds = 600.0
    """Rows answered longer ago do not count."""
    at_least: Count = 40
    """Number of rows that `share` is taken of."""
    cooldown_s: Seconds = 1.0
    """Shortest cool-down."""
    cooldown_factor: Factor = 2.0
    """Growth of the longest cool-down after each failed trial."""
    cooldown_cap_s: Seconds = 60.0
    """Longest cool-down. A cool-down is drawn at random and lasts at most a third of the outage."""
    give_up_s: Seconds = 1_800.0
    """Rows wait this long for a host that has answered before; then they end as ERROR."""
    give_up_unknown_s: Seconds = 90.0
    """Rows wait this long for a host that has never answered; then they end as ERROR."""

    def __post_init__(self) -> None:
        if self.cooldown_s > self.cooldown_cap_s:
            raise ValueError("cooldown_s is above cooldown_cap_s")


class BreakerState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Failure(StrEnum):
    UNREACHED = "unreached"
    """No connection was made, so the row cannot be the reason."""
    UNANSWERED = "unanswered"
    """The request was sent and not answered, or a proxy reports that the host does not answer."""
    ERROR = "error"


class Breaker:
    """The state of one host. Every verdict names the admission that it belongs to.

    Verdicts on requests that were sent before the breaker last opened or closed change nothing: a
    hundred requests in flight are one outage.
    """

    OVERSHOOT = 1 / 3
    """Longest cool-down, as a share of the time since the outage began."""
    TRIALS = 3
    """Trial rows that must fail before the breaker opens on a host in doubt."""
    PAUSE_S = 0.25
    """Seconds without requests before each trial of a host in doubt."""
    ELSEWHERE_S = 1.0
    """Seconds in which only a row from another place in the input may be the trial; later any row
    may.
    """
    TRIED = 8
    """Trials in a row with rows that failed before: no other row is left, so the breaker closes."""
    LENIENT, MOST_LENIENT = 4, 16
    """Factor on the number of rows judged after an unfounded doubt, and its upper limit."""
    REPEATS = 3
    """Immediate repetitions that may fail before they are suspended."""

    __slots__ = (
        "_failed_s",
        "_in_row",
        "_lenience",
        "_policy",
        "_repeated_s",
        "_repeats_in_vain",
        "_rows",
        "_trial",
        "_trials_left",
        "_tried",
        "_unreached",
        "_vouched_s",
        "alert",
        "answered",
        "cause",
        "epoch",
        "in_flight",
        "openings",
        "reopens_s",
        "since_s",
        "state",
    )

    def __init__(self, policy: BreakerPolicy) -> None:
        self._policy = policy
        self._rows = _RowFailures(policy)
        self._failed_s = 0.0
        self._unreached = 0
        """Requests in a row without a connection."""
        self._in_row = 0
        """Requests in a row without an answer. A row whose requests were sent counts once."""
        self.epoch = 0
        """Number of openings and closings; also the admission number while the breaker is closed.
        """
        self._trial = False
        self._trials_left = 0
        """In doubt: trial rows that may still fail before the breaker opens."""
        self._tried = 0
        self._lenience = 1
        """Factor on the number of rows judged, raised after each unfounded doubt."""
        self._vouched_s = 0.0
        self._repeats_in_vain = 0
        self._repeated_s = 0.0
        self.state = BreakerState.CLOSED
        self.alert = False
        """A row failed recently. While false, the caller need not report successes."""
        self.answered = False
        self.in_flight = 0
        """Requests sent and not answered yet; the sender counts them."""
        self.cause: Failure | None = None
        self.openings = 0
        """Openings since the breaker was last closed."""
        self.since_s = 0.0
        """Start of the series of failures that opened the breaker."""
        self.reopens_s = 0.0

    def wait_s(self, now: float, *, elsewhere: bool = True) -> float:
        """Seconds that a request must wait; 0 if it may be sent now.

        `elsewhere`: its row was leased as a trial, from another place in the input.
        """
        if self.state is BreakerState.CLOSED:
            return 0.0
        if self._trial:
            return self.PAUSE_S if self.in_doubt else self._policy.cooldown_s
        only_s = self.ELSEWHERE_S if self.in_doubt and not elsewhere else 0.0
        return max(self.reopens_s + only_s - now, 0.0)

    @property
    def in_doubt(self) -> bool:
        """True while trial rows decide whether the host or the rows are bad."""
        return self._trials_left > 0

    def gave_up(self, now: float) -> bool:
        """True once the host has been down longer than rows wait for it."""
        return self.state is not BreakerState.CLOSED and now >= self._ends_s

    def admit(self, now: float, *, elsewhere: bool = True) -> int | None:
        """The admission number that the request's verdict must name; None if it may not be sent."""
        if self.state is BreakerState.CLOSED:
            return self.epoch
        if self.wait_s(now, elsewhere=elsewhere) > 0.0:
            return None
        self.state = BreakerState.HALF_OPEN
        self._trial = True
        return self.epoch

    def succeeded(self, matched: int, now: float) -> None:
        """The host answered; a refusal is an answer too."""
        self.answered = True
        if matched != self.epoch:
            return
        if self.state is BreakerState.CLOSED:
            self._in_row = self._unreached = 0
            self._rows.add(now, failed=False)
            self.alert = self._rows.failures > 0
        else:
            if self.in_doubt:
                self._vouched_s = now
                self._lenience = min(self._lenience * self.LENIENT, self.MOST_LENIENT)
            self._close()

    def failed(
        self,
        matched: int,
        now: float,
        rng: Rng,
        failure: Failure = Failure.UNREACHED,
        *,
        again: bool = False,
    ) -> None:
        """The request failed. `again`: its row had failed before."""
        if matched != self.epoch:
            return
        if self.state is not BreakerState.CLOSED:
            self._judge_trial(now, rng, failure, again=again)
        elif failure is Failure.UNREACHED or not again:
            self._count(now, failure)
            silent = self._is_silent()
            if not silent and not self._fails_most():
                return
            self.cause = failure
            if silent or failure is Failure.UNREACHED:
                self._open(now, rng)
            else:
                self._trials_left = self.TRIALS
                self._pause(now)

    def repeated(self, now: float, *, helped: bool) -> None:
        """A request that was answered with an error was sent again at once."""
        self._repeats_in_vain = 0 if helped else self._repeats_in_vain + 1
        self._repeated_s = now

    def worth_repeating(self, now: float) -> bool:
        """Whether to send a request again at once after an error answer.

        Where repetition failed for several rows, their errors are about the rows.
        """
        policy = self._policy
        return (
            self._repeats_in_vain < self.REPEATS or now - self._repeated_s > policy.cooldown_cap_s
        )

    def abandoned(self, matched: int) -> None:
        """The request ended without evidence about the host."""
        if matched == self.epoch:
            self._trial = False

    @property
    def _ends_s(self) -> float:
        policy = self._policy
        return self.since_s + (policy.give_up_s if self.answered else policy.give_up_unknown_s)

    def _count(self, now: float, failure: Failure) -> None:
        if self.alert and now - self._failed_s > self._policy.window_s:
            self._forget()
        if self._lenience > 1 and now - self._vouched_s > self._policy.window_s:
            self._lenience = 1
            self._forget()
        self.alert = True
        self._failed_s = now
        self._unreached = self._unreached + 1 if failure is Failure.UNREACHED else 0
        self._in_row += failure is not Failure.ERROR
        if self._in_row <= 1 and self._rows.run_failures == 0:
            self.since_s = now
        self._rows.add(now, failed=True)

    def _is_silent(self) -> bool:
        failures = self._policy.failures
        return self._unreached >= failures or self._in_row >= max(failures, self.in_flight)

    def _fails_most(self) -> bool:
        """Requests in flight count too: the host may answer the good rows of a run first."""
        rows = self._rows
        enough = rows.failures >= self._policy.share * rows.most
        return enough and 2 * rows.run_failures >= rows.run + self.in_flight

    def _judge_trial(self, now: float, rng: Rng, failure: Failure, *, again: bool) -> None:
        self._tried = self._tried + 1 if failure is Failure.ERROR and again else 0
        if failure is Failure.ERROR and self.cause is Failure.UNREACHED:
            self._close()  # the host can be reached again; nothing else was wrong
        elif self._tried >= self.TRIED:
            self._close()
        elif failure is Failure.ERROR and self.in_doubt and (again or self._trials_left > 1):
            self._trials_left -= not again
            self._pause(now)
        elif failure is Failure.ERROR and again:
            self._open(now, rng, longer=False)  # the row may be the reason: try another soon
        else:
            self.cause = failure
            self._open(now, rng)

    def _pause(self, now: float) -> None:
        self.state = BreakerState.HALF_OPEN
        self.reopens_s = now + self.PAUSE_S
        self.epoch += 1
        self._trial = False

    def _open(self, now: float, rng: Rng, *, longer: bool = True) -> None:
        policy = self._policy
        step = policy.cooldown_s * policy.cooldown_factor ** min(self.openings, 64)
        lately_s = policy.cooldown_s + self.OVERSHOOT * (now - self.since_s)
        longest_s = min(step, lately_s, policy.cooldown_cap_s) if longer else policy.cooldown_s
        cooldown_s = rng.uniform(policy.cooldown_s, longest_s)
        if now < self._ends_s < now + cooldown_s:
            cooldown_s = max(self._ends_s - now, policy.cooldown_s)
        self.state = BreakerState.OPEN
        self._trials_left, self._lenience = 0, 1
        self.openings += longer
        self.reopens_s = now + cooldown_s
        self.epoch += 1
        self._trial = False

    def _close(self) -> None:
        self.state = BreakerState.CLOSED
        self.alert = False
        self.answered = True
        self.cause = None
        self.openings = self._trials_left = self._tried = 0
        self._forget()
        self.epoch += 1
        self._trial = False

    def _forget(self) -> None:
        self._in_row = self._unreached = 0
        self._rows = _RowFailures(self._policy, self._lenience)


class _RowFailures:
    """Results of the last rows at their first try, and of the run in which most rows fail."""

    __slots__ = ("_last", "_window_s", "failures", "most", "run", "run_failures")

    def __init__(self, policy: BreakerPolicy, lenience: int = 1) -> None:
        self.most = policy.at_least * lenience
        self._window_s = policy.window_s
        self._last: deque[tuple[float, bool]] = deque()
        self.failures = 0
        self.run = 0
        """Rows since more than half of the last rows failed."""
        self.run_failures = 0

    def add(self, now: float, *, failed: bool) -> None:
        last = self._last
        last.append((now, failed))
        self.failures += failed
        while len(last) > self.most or last[0][0] < now - self._window_s:
            self.failures -= last.popleft()[1]
        if 2 * self.failures <= len(last):
            self.run = self.run_failures = 0
        else:
            self.run += 1
            self.run_failures += failed
