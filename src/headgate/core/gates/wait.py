"""A wait and its cause; and the waits at gates and for hosts that do not answer."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

import msgspec

from headgate.core.gates.state import HostDown, host_down_text
from headgate.core.gates.view import SET, GateView
from headgate.core.pacing.state import Cause
from headgate.core.time_text import as_microseconds

MICROSECONDS = 1_000_000


class WaitKind(StrEnum):
    """What a row waits for. The set is closed: metrics use it as a label."""

    PAUSED = "paused"
    """A user or a spent budget paused the job."""
    READING = "reading"
    WORKER = "worker"
    """No worker is running, or the worker that held the row is gone."""
    BREAKER = "breaker"
    """A host does not answer, or answers only with errors, and gets no requests for a while."""
    PROVIDER_PAUSED = "provider_paused"
    REFUSED = "refused"
    """The provider refused, and the gate is closed until the provider accepts more."""
    BUDGET = "budget"
    RATE = "rate"
    """The rate that the provider allows, that was learned or that was set."""
    CAP = "cap"
    """The number of requests in flight is at its limit."""
    DEFERRED = "deferred"
    RETRY = "retry"
    TURN = "turn"
    """Other rows or other jobs come first."""
    HANDLER = "handler"
    """Handlers are busy, and none has finished a row in the last seconds."""
    RUNNING = "running"
    """Nothing: rows run as fast as the workers can."""


AT_GATES = frozenset(
    {
        WaitKind.PROVIDER_PAUSED,
        WaitKind.REFUSED,
        WaitKind.BUDGET,
        WaitKind.RATE,
        WaitKind.CAP,
    }
)
"""Waits whose text begins with the name of a gate."""


class Wait(msgspec.Struct, frozen=True):
    kind: WaitKind
    why: str
    until_us: int | None = None
    """When it ends, as far as is known."""
    gate: str = ""
    next: str = ""
    """What happens at that time, such as `next try`; empty: the wait ends."""
    evidence: str = ""
    """What led to the wait, if there is more to say."""


KINDS: Mapping[str, WaitKind] = {
    Cause.PAUSED: WaitKind.PROVIDER_PAUSED,
    Cause.STOPPED: WaitKind.REFUSED,
    Cause.RETRY_AFTER: WaitKind.REFUSED,
    Cause.BUDGET: WaitKind.BUDGET,
    Cause.CAP: WaitKind.CAP,
    Cause.CONCURRENCY: WaitKind.CAP,
}
"""Causes that are not a rate."""
PACED = frozenset({Cause.RATE, Cause.TOLD, Cause.CEILING, SET})
"""Causes for which the rate is shown."""


def limiting_gate(gates: Sequence[GateView], *, flowing: bool) -> GateView | None:
    """The gate that decides the speed of the rows that pass these gates; None if none does.

    An open gate at which rows wait decides, because rows that wait at a stopped gate are not
    leased. Without such a gate a stopped gate decides, unless rows still move elsewhere.
    """
    stopped = [gate for gate in gates if is_stopped(gate, flowing=flowing)]
    slow = [gate for gate in gates if gate.holds and gate not in stopped]
    if slow:
        return max(slow, key=lambda gate: gate.now_per_s or 0.0)
    if flowing and any(gate.in_flight for gate in gates if gate not in stopped):
        return None
    return min(stopped, key=_end_of, default=None)


def is_stopped(gate: GateView, *, flowing: bool) -> bool:
    """Whether a gate lets nothing through: it is closed, or the hosts behind it do not answer.

    A provider's gate may have several hosts. While rows are finished, one of them answers.
    """
    if gate.closed:
        return True
    return bool(gate.down) and (gate.name in gate.down or not (flowing and gate.in_flight))


def _end_of(gate: GateView) -> float:
    ends = [gate.closed_until] if gate.closed else [each.until_s for each in gate.down.values()]
    return min((end for end in ends if end is not None), default=float("inf"))


def at_stop(gate: GateView) -> Wait:
    """The wait at a gate that lets nothing through: see `is_stopped`."""
    if gate.closed or not gate.down:
        return at_gate(gate)
    host = min(gate.down, key=lambda each: gate.down[each].until_s)
    return at_host(host, gate.down[host], gate)


def at_gate(gate: GateView) -> Wait:
    until = None if gate.closed_until is None else as_microseconds(gate.closed_until)
    pace = gate.now_per_s
    shown = f", {rate_text(pace)}" if pace and not gate.closed and gate.cause in PACED else ""
    kind = KINDS.get(gate.cause, WaitKind.RATE)
    return Wait(kind, f"{gate.name}: {gate.why}{shown}", until, gate.key, evidence=gate.stage)


def at_host(host: str, down: HostDown, gate: GateView) -> Wait:
    until = as_microseconds(down.until_s)
    why = host_down_text(host, down, gate.name)
    return Wait(WaitKind.BREAKER, why, until, gate.key, "next try", down.reason)


def rate_text(per_s: float) -> str:
    if per_s >= 100:
        return f"{per_s:,.0f}/s"
    for size, unit in ((1, "s"), (60, "min"), (3_600, "h")):
        if per_s * size >= 1:
            return f"{per_s * size:.1f}".removesuffix(".0") + f"/{unit}"
    return f"{per_s * 86_400:.1f}".removesuffix(".0") + "/day"


class GateTime:
    """Adds up the waits. Waits that overlap count once. Times are seconds of one clock."""

    __slots__ = ("_open", "_since_s", "_total_s")

    def __init__(self) -> None:
        self._open = 0
        self._since_s = 0.0
        self._total_s = 0.0

    @property
    def is_waiting(self) -> bool:
        return self._open > 0

    def begin(self, now_s: float) -> None:
        if not self._open:
            self._since_s = now_s
        self._open += 1

    def end(self, now_s: float) -> None:
        self._open -= 1
        if not self._open:
            self._total_s += now_s - self._since_s

    def total_s(self, now_s: float) -> float:
        return self._total_s + (now_s - self._since_s if self._open else 0.0)
