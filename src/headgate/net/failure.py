"""Requests that got no answer."""

import errno
from enum import StrEnum

from headgate.core.fault import AttemptOver, Fault, FaultClass


class FailureKind(StrEnum):
    """Where it went wrong."""

    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    CUT = "cut"
    PROTOCOL = "protocol"
    ENCODING = "encoding"
    """The body cannot be unpacked."""
    BOMB = "bomb"
    """The body unpacks to far more than was sent; it will do so the next time as well."""


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
    """There was no answer, or not all of one; another try may get it, unless it is a bomb."""

    def __init__(self, kind: FailureKind, words: str, *, sent: bool, number: int = 0) -> None:
        super().__init__(Fault(_FAULTS.get(kind, FaultClass.TRANSIENT), words))
        self.why = ERRNO_WORDS.get(number) or _WORDS[kind]
        """The failure without the place, in two or three words; `number` is the system's errno."""
        self.kind = kind
        self.code = str(kind)
        self.sent = sent
        """The server may have seen the request, and acted on it."""


class AddressRefused(AttemptOver):
    """The address is none that a URL from data may lead to."""

    code = "address-refused"

    def __init__(self, where: str, kind: str) -> None:
        # The address itself is left out: it would tell strangers about the network we are in.
        reason = f"address refused: {where} is {kind}, not public (net.allow_private permits it)"
        super().__init__(Fault(FaultClass.PERMANENT, reason))


class Refused(AttemptOver):
    """The server asked us to slow down; that costs no attempt."""

    def __init__(self, gate: str, status: int, retry_in_s: float) -> None:
        reason = f"{gate} asked to slow down ({status}); its gate reopens in {retry_in_s:.1f} s"
        super().__init__(Fault(FaultClass.THROTTLED, reason, retry_in_s, gate))
        self.retry_in_s = retry_in_s
        self.status = status


class Recalled(Exception):
    """Its gate has closed before it was sent, so it was not."""


class Benched(AttemptOver):
    """A credential was not accepted; another one is left to try."""

    def __init__(self, host: str, status: int) -> None:
        reason = f"{host} did not accept a credential ({status})"
        super().__init__(Fault(FaultClass.PERMANENT, reason))
