"""Failures of requests, and the budget for repeating them."""

import errno
from enum import StrEnum
from typing import Final

from headgate.core.fault import AttemptOver, Fault, FaultClass, is_retryable_status
from headgate.core.provider import ProviderPolicy
from headgate.core.retry import Rng


class FailureKind(StrEnum):
    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    CUT = "cut"
    PROTOCOL = "protocol"
    ENCODING = "encoding"
    BOMB = "bomb"
    """The body decodes to far more than was sent; a repeat would do the same."""


_WORDS = {
    FailureKind.DNS: "unknown host name",
    FailureKind.CONNECT: "no connection",
    FailureKind.TLS: "no secure connection",
    FailureKind.TIMEOUT: "timed out",
    FailureKind.CUT: "connection cut",
    FailureKind.PROTOCOL: "does not speak HTTP",
    FailureKind.ENCODING: "unreadable answer",
    FailureKind.BOMB: "unreadable answer",
}
ERRNO_WORDS = {
    errno.ECONNREFUSED: "connection refused",
    errno.EHOSTUNREACH: "no route",
    errno.ENETUNREACH: "no route",
    errno.ECONNRESET: "connection cut",
}

_FAULTS = {FailureKind.TIMEOUT: FaultClass.TIMEOUT, FailureKind.BOMB: FaultClass.PERMANENT}


class WireFailure(AttemptOver):
    """No complete response arrived; a repeat may succeed, unless the failure is a bomb."""

    def __init__(self, kind: FailureKind, words: str, *, sent: bool, number: int = 0) -> None:
        super().__init__(Fault(_FAULTS.get(kind, FaultClass.TRANSIENT), words))
        self.why = ERRNO_WORDS.get(number) or _WORDS[kind]
        """The failure without the URL, in two or three words; `number` is the system's errno."""
        self.kind = kind
        self.code = str(kind)
        self.sent = sent
        """Whether the server may have received the request and acted on it."""


class AddressRefused(AttemptOver):
    """A URL from data leads to an address that is not public."""

    code = "address-refused"

    def __init__(self, where: str, kind: str) -> None:
        # The message leaves the address out: it would reveal our network.
        reason = f"address refused: {where} is {kind}, not public (net.allow_private permits it)"
        super().__init__(Fault(FaultClass.PERMANENT, reason))


class RequestRefused(AttemptOver):
    """The server asked for a lower rate; this costs no attempt."""

    def __init__(self, gate: str, status: int, retry_in_s: float) -> None:
        reason = f"{gate} asked to slow down ({status}); its gate reopens in {retry_in_s:.1f} s"
        super().__init__(Fault(FaultClass.THROTTLED, reason, retry_in_s, gate))
        self.retry_in_s = retry_in_s
        self.status = status


class RequestRecalled(Exception):
    """The gate closed before the request was sent, so it was not sent."""


class HostBenched(AttemptOver):
    """A credential was not accepted; another one is left to try."""

    def __init__(self, host: str, status: int) -> None:
        reason = f"{host} did not accept a credential ({status})"
        super().__init__(Fault(FaultClass.PERMANENT, reason))


IDEMPOTENT: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})


class Repeats:
    """What is left of a request's budget for repeats.

    Beyond it the item goes back to the queue with a due time, and its lane is free for other items.
    """

    __slots__ = ("_deadline_s", "_idempotent", "_left", "_policy", "_rng", "_step_s")

    def __init__(self, method: str, policy: ProviderPolicy, started_s: float, rng: Rng) -> None:
        self._idempotent = method in IDEMPOTENT
        self._policy = policy
        self._rng = rng
        self._left = policy.retry.retries
        self._deadline_s = started_s + policy.retry.budget_s
        self._step_s = policy.retry.base_s

    def after(self, trouble: WireFailure | RequestRefused, now: float) -> float | None:
        """Return the seconds to wait before a repeat; None: do not repeat."""
        if isinstance(trouble, RequestRefused):
            return self._after_refusal(trouble.retry_in_s)
        if trouble.kind is FailureKind.BOMB:
            return None
        return self._drawn(now) if self._idempotent or not trouble.sent else None

    def after_status(self, status: int, now: float) -> float | None:
        """Return the same for a response; only a server error is worth a repeat."""
        return self._drawn(now) if is_retryable_status(status) and self._idempotent else None

    def _after_refusal(self, retry_in_s: float) -> float | None:
        """Return 0 for a short refusal: the gate itself makes the repeat wait."""
        if self._left <= 0 or retry_in_s > self._policy.patience_s:
            return None
        self._left -= 1
        return 0.0

    def _drawn(self, now: float) -> float | None:
        """Draw a wait with full jitter, while the budget lasts."""
        wait_s = self._rng.uniform(0.0, self._step_s)
        if self._left <= 0 or now + wait_s > self._deadline_s:
            return None
        self._left -= 1
        self._step_s *= self._policy.retry.factor
        return wait_s
