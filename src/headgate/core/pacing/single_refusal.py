"""A single refusal proves nothing: the pace waits it out, and only another one confirms it.

Servers refuse now and then for reasons of their own: one of several machines restarts, a guard is
suspicious, another client was too fast. Such a refusal is independent of our rate. So a stop of a
single refusal changes no level, unless another refusal came shortly before it, or such stops come
too often. A long Retry-After is obeyed at once, but the end of a quota is only suspected, until the
next stop comes after as many requests.
"""

from headgate.core.pacing.level import Level
from headgate.core.pacing.state import PaceState, Stop, Window
from headgate.core.pacing.trust import DUE_SHARE

NEAR = 30
"""Requests within which a level that is a few per cent too high is refused again."""
NEAR_KNOWN = 200
"""Requests within which a known level is refused again: it is too high by less, if at all."""
NEAR_UNSEEN = 600
"""Requests within which it is refused again if no request was sent after the refused one."""
FREE = 2
"""Single refusals in `LATELY_S` that change nothing, in addition to `DUE_SHARE` of all requests."""
LATELY_S = 600.0
STEP_BACK_S = 0.6
"""Seconds of growth to take back while starting: if it was the limit, it is met more gently."""
ALIKE = 0.01
"""Share of the count by which two stops of one quota may differ."""
ODD = 2.0
"""Requests by which they may differ as well, since requests overtake each other."""
PASSED_S = 2.0
PASSED_LASTS_S = 300.0
"""Seconds for which the highest rate accepted over `PASSED_S` seconds is remembered."""
BELOW = 0.95
"""While probing, a refusal below this share of that rate does not come from the probe."""
SOME = 3
"""Accepted requests sent after the refused one that are needed for that."""
FAR_BELOW = 0.8
INDEPENDENT = 3.0
"""Below `FAR_BELOW` of that rate, this multiple of `DUE_SHARE` is not caused by our rate."""
STEP_S = 1.2
"""Seconds by which the end of a quota may differ: Retry-After has whole seconds."""
OUTGROWN = 1.1
"""Multiple of its count above which a suspected quota does not exist."""


def is_lone(stop: Stop) -> bool:
    """A single request was refused, and the requests before and after it were not."""
    return stop.hits == 1 and not stop.asked and not stop.trickles


def is_pair(stop: Stop) -> bool:
    """Two single requests were refused, the second soon after the gate had reopened."""
    return stop.hits == 1 and not stop.asked and stop.trickles == 1


def pass_over(state: PaceState, now: float) -> bool:
    """Whether the stop that has just ended changes nothing, since nothing confirms it."""
    stop, taken = state.stop, state.delivery.count
    passed = _passed(state, now)
    if not is_lone(stop) or stop.resuming:
        return False  # one refusal is enough to doubt a level that is only remembered
    looking = state.rate.known is not None and not stop.surprise
    if looking and (stop.cut > BELOW * passed or stop.after < SOME):
        return False
    odd = stop.cut < FAR_BELOW * passed
    witnessed = stop.after >= SOME
    few = NEAR if odd or state.rate.known is None else NEAR_KNOWN if witnessed else NEAR_UNSEEN
    lately = stop.previous > 0 and stop.first - state.opened < LATELY_S
    near = lately and taken(stop.previous, stop.first) < few
    share = DUE_SHARE * (INDEPENDENT if odd else 1.0)
    often = FREE + share * taken(now - LATELY_S, now)
    if near or state.lone.count(now - LATELY_S, now) >= often:
        return False
    state.lone.add(now)
    if witnessed:
        state.strays.add(now)
    if state.rate.known is None:
        state.rate.age_s = max(0.0, state.rate.age_s - STEP_BACK_S)
    return True


def _passed(state: PaceState, now: float) -> float:
    """The highest rate accepted recently, including the one before this stop."""
    first = state.stop.first
    rate = state.delivery.count(first - PASSED_S, first) / PASSED_S
    if rate >= state.passed or now - state.passed_at > PASSED_LASTS_S:
        state.passed, state.passed_at = rate, now
    return state.passed


def may_be_quota(stop: Stop) -> bool:
    """True if hardly any request sent after the refused one was accepted: a quota accepts none."""
    return stop.after <= stop.hits


def used_of(state: PaceState, suspect: Window, until: float) -> float:
    periods = max(0.0, until - suspect.until) // suspect.seconds
    return state.delivery.count(suspect.until + periods * suspect.seconds, until)


def is_confirmed(state: PaceState, suspect: Window) -> bool:
    """Whether the stop came at the same use as the stop that raised the suspicion."""
    stop, count = state.stop, suspect.count
    end = min(stop.first, suspect.until + suspect.seconds)
    if is_outgrown(suspect, state.delivery.count(suspect.until, end)):
        return False
    since_renewed = used_of(state, suspect, stop.first)
    if suspect.since <= state.opened <= suspect.until + 1:
        since_renewed = state.answered  # exact, since no slot of time is split
    alike = abs(since_renewed - count) <= ALIKE * count + ODD
    return is_full(state, suspect) or (alike and _is_in_step(state, suspect))


def is_full(state: PaceState, suspect: Window) -> bool:
    """Whether the suspected quota was used up in the window before this stop too."""
    used = state.delivery.count(state.stop.first - suspect.seconds, state.stop.first)
    return abs(used - suspect.count) <= ALIKE * suspect.count + ODD


def _is_in_step(state: PaceState, suspect: Window) -> bool:
    """Whether both stops name ends that are whole windows apart, as a quota's ends are."""
    apart = (state.stop.told_until - suspect.until) / suspect.seconds
    return abs(apart - round(apart)) * suspect.seconds <= STEP_S + 2 * state.latency


def is_outgrown(suspect: Window, used: float) -> bool:
    return used > OUTGROWN * suspect.count + ODD


def is_at_end(suspect: Window, used: float, waiting: int) -> bool:
    """The suspected quota may end here, so the next request waits for the answers before it."""
    beyond = used + waiting - suspect.count
    return beyond >= -ODD and waiting > max(0.0, 2 * beyond)


def forget_unproved(state: PaceState, now: float) -> None:
    """After a rest: drop what rests on a single refusal."""
    window, suspect = state.window, state.suspect
    if window is not None and not (window.firm or window.proved):
        state.window, state.settled = None, False
        state.rate = Level(start=state.rate.start, cheap=state.rate.cheap)
    if suspect is not None and now > suspect.until + suspect.seconds:
        state.suspect = None
