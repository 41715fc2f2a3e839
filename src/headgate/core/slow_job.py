"""Decides whether a job is far slower than it could be."""

import math
from collections.abc import Sequence

from headgate.core.gates.view import GateView
from headgate.core.gates.wait import Wait, WaitKind

SLOW_S = 30.0
"""Seconds for which a job must be slow before it counts."""
SLOW_SHARE = 0.05
"""Share of the expected speed below which a job is slow."""
EXPECTED = frozenset(
    {
        WaitKind.PAUSED,
        WaitKind.READING,
        WaitKind.DEFERRED,
        WaitKind.RETRY,
        WaitKind.PROVIDER_PAUSED,
        WaitKind.BUDGET,
        WaitKind.TURN,
    }
)
"""Waits that a user, the handler, the settings or another job asked for."""


def expected_per_s(
    wait: Wait, gates: Sequence[GateView], lanes: int, handler_s: float | None
) -> float | None:
    """Rows a second that a job could do, from the rate of its gate and the speed of its handlers.

    None where neither is known, or where no speed can be expected. A closed gate allows nothing. A
    host that does not answer leaves the rate of its gate as it was.
    """
    if wait.kind in EXPECTED:
        return None
    rates = [_rate_of(gate) for gate in gates if gate.key == wait.gate]
    if handler_s:
        rates.append(lanes / handler_s)
    lowest = min(rates, default=math.inf)
    return None if math.isinf(lowest) else lowest


def _rate_of(gate: GateView) -> float:
    return math.inf if gate.now_per_s is None else gate.now_per_s


def is_slow(per_s: float | None, expected: float | None) -> bool:
    """Whether `per_s`, measured over the last `SLOW_S` seconds, is far below `expected`."""
    return per_s is not None and expected is not None and per_s < expected * SLOW_SHARE
