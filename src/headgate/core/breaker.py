"""A breaker stops asking a host that does not answer, and asks again now and then.

Closed: everything passes. Open: nothing passes until its cool-down is over. Then half open: one
trial passes; its success closes the breaker, its failure opens it for longer.
"""

from enum import StrEnum

import msgspec

from headgate.core.bounds import Count, Factor, Seconds, Share
from headgate.core.retry import Rng


class BreakerPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a host counts as dead, and for how long."""

    failures: Count = 10
    """Requests in a row without an answer that open it."""
    share: Share = 0.5
    """The share of failures within the window that opens it."""
    window_s: Seconds = 30.0
    """How far back that share is counted, about."""
    at_least: Count = 40
    """Fewer answers than this within the window are no share of anything."""
    cooldown_s: Seconds = 1.0
    """How long it is open at least."""
    cooldown_factor: Factor = 2.0
    """How much longer it may be open after each trial that fails."""
    cooldown_cap_s: Seconds = 60.0
    """No cool-down is longer; each is drawn evenly between the least and the longest."""

    def __post_init__(self) -> None:
        if self.cooldown_s > self.cooldown_cap_s:
            raise ValueError("cooldown_s is above cooldown_cap_s")


class BreakerState(StrEnum):
    """What a breaker does with requests."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Breaker:
    """The state of one host. Every verdict names the admission that it is about.

    Verdicts on requests that were let out before it last opened or closed are old news and change
    nothing: a hundred requests in flight are one outage.
    """

    __slots__ = (
        "_in_row",
        "_policy",
        "_recent",
        "_trial",
        "alert",
        "epoch",
        "openings",
        "reopens_s",
        "state",
    )

    def __init__(self, policy: BreakerPolicy) -> None:
        self._policy = policy
        self._recent = _Recent(policy.window_s / 2)
        self._in_row = 0
        self.epoch = 0
        """How often it has opened and closed; the number of an admission while it is closed."""
        self._trial = False
        self.state = BreakerState.CLOSED
        self.alert = False
        """Something failed of late. As long as nothing has, successes need not be told."""
        self.openings = 0
        """How often it opened since it was last closed."""
        self.reopens_s = 0.0
        """When the next trial may go out."""

    def wait_s(self, now: float) -> float:
        """0 if a request may go out now; else how long it should wait."""
        if self.state is BreakerState.CLOSED:
            return 0.0
        if self._trial:
            return self._policy.cooldown_s
        return max(self.reopens_s - now, 0.0)

    def admit(self, now: float) -> int | None:
        """The number under which the request's verdict is to be given; None if it may not go."""
        if self.state is BreakerState.CLOSED:
            return self.epoch
        if self.wait_s(now) > 0.0:
            return None
        self.state = BreakerState.HALF_OPEN
        self._trial = True
        return self.epoch

    def succeeded(self, admission: int, now: float) -> None:
        """The host answered; a refusal is an answer too."""
        if admission != self.epoch:
            return
        if self.state is BreakerState.CLOSED:
            self._in_row = 0
            self._recent.add(now, failed=False)
            self.alert = self._recent.failures > 0
        else:
            self._close()

    def failed(self, admission: int, now: float, rng: Rng, *, answered: bool = False) -> None:
        """The host did not answer, or `answered` with an error of its own.

        Such errors may be about single requests, of which several can come in a row; they open it
        only as a large share of many.
        """
        if admission != self.epoch:
            return
        self.alert = True
        self._in_row += not answered
        self._recent.add(now, failed=True)
        if self.state is not BreakerState.CLOSED or self._is_dead():
            self._open(now, rng)

    def abandoned(self, admission: int) -> None:
        """The request was given up before anything could be said about the host."""
        if admission == self.epoch:
            self._trial = False

    def _is_dead(self) -> bool:
        policy, recent = self._policy, self._recent
        in_window = recent.answers >= policy.at_least
        return self._in_row >= policy.failures or (in_window and recent.share >= policy.share)

    def _open(self, now: float, rng: Rng) -> None:
        policy = self._policy
        step = policy.cooldown_s * policy.cooldown_factor ** min(self.openings, 64)
        cooldown_s = rng.uniform(policy.cooldown_s, min(step, policy.cooldown_cap_s))
        self.state = BreakerState.OPEN
        self.openings += 1
        self.reopens_s = now + cooldown_s
        self.epoch += 1
        self._trial = False

    def _close(self) -> None:
        self.state = BreakerState.CLOSED
        self.alert = False
        self.openings = 0
        self._in_row = 0
        self._recent = _Recent(self._policy.window_s / 2)
        self.epoch += 1
        self._trial = False


class _Recent:
    """Answers and failures of this half of a window and of the one before."""

    __slots__ = ("_ends_s", "_half_s", "_now", "_past")

    def __init__(self, half_s: float) -> None:
        self._half_s = half_s
        self._ends_s = 0.0
        self._past = [0, 0]
        self._now = [0, 0]

    @property
    def answers(self) -> int:
        return self._past[0] + self._now[0]

    @property
    def failures(self) -> int:
        return self._past[1] + self._now[1]

    @property
    def share(self) -> float:
        return self.failures / self.answers

    def add(self, now: float, *, failed: bool) -> None:
        if now >= self._ends_s:
            self._past = self._now if now < self._ends_s + self._half_s else [0, 0]
            self._now = [0, 0]
            self._ends_s = now + self._half_s
        self._now[0] += 1
        self._now[1] += failed
