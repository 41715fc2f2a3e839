"""Whether to repeat a request at once, and after how long."""

from typing import Final

from headgate.core.fault import worth_another_try
from headgate.core.provider import ProviderPolicy
from headgate.core.retry import Rng
from headgate.net.failure import FailureKind, Refused, WireFailure

IDEMPOTENT: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})


class Repeats:
    """What is left of the small budget that a request has for being repeated.

    Beyond it the item goes back with a due time, and its lane is free for others.
    """

    __slots__ = ("_deadline_s", "_idempotent", "_left", "_policy", "_rng", "_step_s")

    def __init__(self, method: str, policy: ProviderPolicy, started_s: float, rng: Rng) -> None:
        """A budget that runs since the request was first sent."""
        self._idempotent = method in IDEMPOTENT
        self._policy = policy
        self._rng = rng
        self._left = policy.retry.retries
        self._deadline_s = started_s + policy.retry.budget_s
        self._step_s = policy.retry.base_s

    def after(self, trouble: WireFailure | Refused, now: float) -> float | None:
        """How long to wait before sending again what got no answer; None: not at all."""
        if isinstance(trouble, Refused):
            return self._after_refusal(trouble.retry_in_s)
        if trouble.kind is FailureKind.BOMB:
            return None
        return self._drawn(now) if self._idempotent or not trouble.sent else None

    def after_status(self, status: int, now: float) -> float | None:
        """The same for what was answered; only a server's own error is worth another try."""
        return self._drawn(now) if worth_another_try(status) and self._idempotent else None

    def _after_refusal(self, retry_in_s: float) -> float | None:
        """The gate itself makes it wait, if that is short."""
        if self._left <= 0 or retry_in_s > self._policy.patience_s:
            return None
        self._left -= 1
        return 0.0

    def _drawn(self, now: float) -> float | None:
        """Full jitter, as long as the budget lasts."""
        wait_s = self._rng.uniform(0.0, self._step_s)
        if self._left <= 0 or now + wait_s > self._deadline_s:
            return None
        self._left -= 1
        self._step_s *= self._policy.retry.factor
        return wait_s
