"""A breaker stops asking a host that does not answer, and asks again from time to time.

Closed: everything passes. Open: nothing passes until its cool-down is over. Then half open: one
trial passes; its success closes the breaker, its failure opens it for longer.

A host may answer some rows with an error and all others well. So a failure counts against the
host only if it is evidence about the host: no connection could be made, or a row failed that never
failed before. A row that failed before says nothing new, however often it is tried again.

Bad rows may stand together in the input. So a host that answers most rows with errors is only in
doubt: requests pause, and rows from other places in the input are tried, one after the other. Only
if these fail too does the breaker open. If one is answered well, the errors are about the rows, and
more of them are needed before the next doubt.
"""

from collections import deque
from enum import StrEnum

import msgspec

from headgate.core.bounds import Count, Factor, Seconds, Share
from headgate.core.retry import Rng


class BreakerPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a host counts as dead, and for how long."""

    failures: Count = 12
    """Requests in a row without an answer that open it."""
    share: Share = 0.7
    """The share of the last `at_least` rows that puts it in doubt if they fail at the first try."""
    window_s: Seconds = 600.0
    """Rows that were answered longer ago do not count."""
    at_least: Count = 40
    """How many rows that share is taken of."""
    cooldown_s: Seconds = 1.0
    """How long it is open at least."""
    cooldown_factor: Factor = 2.0
    """How much longer it may be open after each trial that fails."""
    cooldown_cap_s: Seconds = 60.0
    """No cool-down is longer, nor than a third of the outage so far; each is drawn at random."""
    give_up_s: Seconds = 1_800.0
    """Rows wait this long for a host that has answered before; then they end as ERROR."""
    give_up_unknown_s: Seconds = 90.0
    """Rows wait this long for a host that has never answered; then they end as ERROR."""

    def __post_init__(self) -> None:
        if self.cooldown_s > self.cooldown_cap_s:
            raise ValueError("cooldown_s is above cooldown_cap_s")


class BreakerState(StrEnum):
    """What a breaker does with requests."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Failure(StrEnum):
    """How a request failed, sorted by what that says about the host."""

    UNREACHED = "unreached"
    """There was no connection, so the row cannot be the reason."""
    UNANSWERED = "unanswered"
    """It was sent and not answered, or a proxy says that the host does not answer."""
    ERROR = "error"
    """The host answered with an error of its own."""


class Breaker:
    """The state of one host. Every verdict names the admission that it is about.

    Verdicts on requests that were let out before it last opened or closed are old news and change
    nothing: a hundred requests in flight are one outage.
    """

    OVERSHOOT = 1 / 3
    """No cool-down is longer than this part of the time that the host is away already."""
    TRIALS = 3
    """Rows from elsewhere that must fail, before a host in doubt counts as dead."""
    PAUSE_S = 0.25
    """In doubt, how long nothing goes out before each trial."""
    ELSEWHERE_S = 1.0
    """For how long a trial is then only for rows from elsewhere; later any row will do."""
    TRIED = 8
    """Trials in a row with rows that failed before: no other row is left, so nothing is learned."""
    LENIENT, MOST_LENIENT = 4, 16
    """After a doubt without ground, so many times as many rows are judged, up to the latter."""
    REPEATS = 3
    """Repetitions that may be in vain before there are no more for a while."""

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
        self._rows = _Rows(policy)
        self._failed_s = 0.0
        """When a failure was counted last."""
        self._unreached = 0
        """Requests in a row without a connection."""
        self._in_row = 0
        """Requests in a row without an answer; of those that were sent, one for each row."""
        self.epoch = 0
        """How often it has opened and closed; the number of an admission while it is closed."""
        self._trial = False
        self._trials_left = 0
        """In doubt: rows from elsewhere that may still fail before it opens."""
        self._tried = 0
        """Trials in a row with rows that failed before."""
        self._lenience = 1
        """By how much more rows are judged, because an earlier doubt was without ground."""
        self._vouched_s = 0.0
        """When that was."""
        self._repeats_in_vain = 0
        self._repeated_s = 0.0
        self.state = BreakerState.CLOSED
        self.alert = False
        """A row failed not long ago. As long as none has, successes need not be told."""
        self.answered = False
        """The host has answered, now or at any time before."""
        self.in_flight = 0
        """Requests that are out and not answered yet; the sender counts them."""
        self.cause: Failure | None = None
        """The failure that opened it."""
        self.openings = 0
        """How often it opened since it was last closed."""
        self.since_s = 0.0
        """When the row of failures began that opened it."""
        self.reopens_s = 0.0
        """When the next trial may go out."""

    def wait_s(self, now: float, *, elsewhere: bool = True) -> float:
        """0 if a request may go out now; else how long it should wait.

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
        """Whether rows from elsewhere in the input are to tell if the host or the rows are bad."""
        return self._trials_left > 0

    def gave_up(self, now: float) -> bool:
        """Whether the host has been away for so long that rows no longer wait for it."""
        return self.state is not BreakerState.CLOSED and now >= self._ends_s

    def admit(self, now: float, *, elsewhere: bool = True) -> int | None:
        """The number under which the request's verdict is to be given; None if it may not go."""
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
        """Whether to send again at once what was answered with an error.

        Where that has been in vain for several rows, their errors are about the rows.
        """
        policy = self._policy
        return (
            self._repeats_in_vain < self.REPEATS or now - self._repeated_s > policy.cooldown_cap_s
        )

    def abandoned(self, matched: int) -> None:
        """The request was given up before anything could be said about the host."""
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
        """Rows of which the host rejects a few may well be answered first, so others count too."""
        rows = self._rows
        enough = rows.failures >= self._policy.share * rows.most
        return enough and 2 * rows.run_failures >= rows.run + self.in_flight

    def _judge_trial(self, now: float, rng: Rng, failure: Failure, *, again: bool) -> None:
        self._tried = self._tried + 1 if failure is Failure.ERROR and again else 0
        if failure is Failure.ERROR and self.cause is Failure.UNREACHED:
            self._close()  # it can be reached again, and that was all that was wrong
        elif self._tried >= self.TRIED:
            self._close()
        elif failure is Failure.ERROR and self.in_doubt and (again or self._trials_left > 1):
            self._trials_left -= not again
            self._pause(now)
        elif failure is Failure.ERROR and again:
            self._open(now, rng, longer=False)  # the row may be the reason: ask another one soon
        else:
            self.cause = failure
            self._open(now, rng)

    def _pause(self, now: float) -> None:
        """Let nothing out for a moment, then a trial."""
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
        self._rows = _Rows(self._policy, self._lenience)


class _Rows:
    """How the last rows fared at their first try, and those since most of them began to fail."""

    __slots__ = ("_last", "_window_s", "failures", "most", "run", "run_failures")

    def __init__(self, policy: BreakerPolicy, lenience: int = 1) -> None:
        self.most = policy.at_least * lenience
        """How many are remembered."""
        self._window_s = policy.window_s
        self._last: deque[tuple[float, bool]] = deque()
        self.failures = 0
        self.run = 0
        """Rows since more than half of the last ones have failed."""
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
