"""How far a level is trusted, how long it is held, and how soon the next probe comes."""

from headgate.core.pacing.evidence_text import known_now, refused_at, tried_next
from headgate.core.pacing.state import PaceEvidence, PaceState

EVIDENCE = 40
"""Number of decisions kept."""
DUE_SHARE = 0.002
"""Share of requests that probes may lose to refusals, in addition to a few that are free."""
ENOUGH_S = 90.0
ENOUGH = 600
"""A probe is due after `ENOUGH_S` seconds or `ENOUGH` requests, whichever takes longer, earned or
not."""
BACK_HOLD_S = 11.0
"""Seconds to hold a level far below a confirmed one: such limits often return."""
BACK_LONGEST_S = 60.0
"""Longest hold of such a level in seconds: finding a limit that returned is worth a refusal."""
BACK_SHARE = 0.008
"""Share of requests that probes for a returned limit may lose to refusals."""
LONGEST_S = 200.0
"""Longest hold of any level without a probe, in seconds."""
LATE_REFUSALS = 2.5
"""Refusals in flight when the first one arrives, at the rate `cheap`."""
SLOWEST = 0.005
"""Lowest rate that refusals can teach, in requests a second; below it, learning would take
hours."""
FALLEN = 0.6
"""Share of a confirmed level below which the limit itself has fallen."""
BACK_S = 600.0
"""Seconds within which a fallen limit may return."""


def note(
    state: PaceState, now: float, seen: str, decided: str, before: float | None = None
) -> None:
    line = PaceEvidence(now, seen, decided, before or state.rate.known, state.rate.known)
    state.evidence = [*state.evidence[1 - EVIDENCE :], line]


def unsettle(state: PaceState, now: float, est: float, why: str, *, wary: bool = False) -> None:
    """Only the order of magnitude is known: use it, and probe soon."""
    state.tries = 0 if state.settled else state.tries + 1
    state.settled, state.confirmed = False, 0
    before, est = state.rate.known, max(est, SLOWEST)
    slow = 4.0 if wary else 1.0
    late = LATE_REFUSALS * est / state.rate.cheap
    hold = 40.0 if wary else 11.0 if len(state.recent) + late > 6 else 2.0
    state.rate.set(est, max(hold, 10 / est), max(slow, 3 / est), max(2.5, slow, 3 / est), 0.02)
    note(state, now, refused_at(state.stop.cut, why), tried_next(est), before)


def settle(state: PaceState, now: float, est: float, why: str, *, look_now: bool = False) -> None:
    """The level is known: stay below it for a while, or probe from it at once."""
    before, est = state.rate.known, max(est, SLOWEST)
    if state.probe is not None:
        probe, state.probe = state.probe, None
        extra = probe.taken - est * (probe.until - probe.since)
        state.burst = min(max(0.0, extra), 4 * est)
    fallen = is_fallen(state, now, est)
    same = before and state.settled and (fallen or abs(est / before - 1) < 0.04)
    state.confirmed = state.confirmed + 1 if same else 0
    state.settled, state.tries = True, 0
    if state.window is not None and est * state.window.seconds > 1.1 * state.window.count:
        state.window = None
    if fallen:
        hold = BACK_HOLD_S
    else:
        pause = min(now - state.stop.dark, 2.0)
        hold = max(8 * 1.5 ** min(state.confirmed, 5), 30 * pause, min(100 / est, 30.0))
    earned = to_earn(state, now, 6, BACK_SHARE) if fallen else to_earn(state, now, 6)
    longest = BACK_LONGEST_S if fallen else min(max(ENOUGH_S, ENOUGH / est), LONGEST_S)
    hold = max(hold, min(earned / est, longest))
    slow, fast = max(2.0, 4 / est), max(2.5, 3 / est)
    if fallen:
        slow, fast = 2.0, 1.0
    if state.window is not None:
        hold = max(hold, 2.5 * state.window.seconds)
        slow = max(slow, state.window.seconds)
        fast = max(fast, state.window.seconds / 2)
    hold = 0.0 if look_now else min(hold, LONGEST_S)
    excess = 0.02 if look_now else 0.04 if fallen else 0.01
    state.rate.set(est, hold, slow, fast, excess)
    if state.window is not None:
        state.rate.most = 1.35 * est
    decided = known_now(before, est, hold)
    note(state, now, refused_at(state.stop.cut, why), decided, before)


def note_peak(state: PaceState, now: float, level: float) -> None:
    """Remember a trusted level that held, unless a much higher one was known."""
    if level > FALLEN * state.peak:
        state.peak, state.peak_at = level, now


def is_fallen(state: PaceState, now: float, level: float) -> bool:
    """Whether a level is far below one confirmed recently: such limits often return."""
    return level < FALLEN * state.peak and now - state.peak_at < BACK_S


def to_earn(state: PaceState, now: float, free: int, share: float = DUE_SHARE) -> float:
    """Requests that must be accepted before one more refusal stays within `share`."""
    refused = state.refused.count(now - 600, now) - state.strays.count(now - 600, now) + 1 - free
    return refused / share - state.delivery.count(now - 600, now)
