"""One refusal proves nothing: it is waited out, and only another one confirms it.

Servers refuse now and then for reasons of their own: one of several machines is restarted, a
guard is suspicious, a neighbour was too fast. Such a refusal has nothing to do with our rate. So a
stop of a single refusal changes no level, unless another refusal came shortly before it, or such
stops come too often. A long Retry-After is honoured at once, but that it was the end of a quota is
only suspected, until the next stop comes after as many requests.
"""

from headgate.core.pacing.level import Level
from headgate.core.pacing.state import PaceState, Stop, Window
from headgate.core.pacing.trust import DUE_SHARE

NEAR = 30
"""Requests. A level that is too high by a few per cent is refused again within as many."""
NEAR_KNOWN = 200
"""The same of a level that is known: it is too high by less, if at all."""
NEAR_UNSEEN = 600
"""The same where nothing was on its way that could have been taken after the refused one."""
FREE = 2
"""Single refusals in `LATELY_S` that change nothing, beside their due share of all requests."""
LATELY_S = 600.0
STEP_BACK_S = 0.6
"""While starting, go back by as much growth: if it was the limit, it is met again more gently."""
ALIKE = 0.01
"""Stops of a quota come after the same number of requests, but for this part and `ODD`,"""
ODD = 2.0
"""which is for requests that overtake each other on the way."""
PASSED_S = 2.0
PASSED_LASTS_S = 300.0
"""For how long the highest rate that was taken for `PASSED_S` is remembered."""
BELOW = 0.95
"""Looking for more, a refusal below this part of that rate is as odd as one without a look."""
SOME = 3
"""And if at least as many were taken that were sent after it."""
FAR_BELOW = 0.8
INDEPENDENT = 3.0
"""So far below it, so many times the due share of single refusals is not ours to explain."""
STEP_S = 1.2
"""Retry-After is told in whole seconds: ends that it names are this exact."""
OUTGROWN = 1.1
"""A suspected quota that has let through so many times its count is none."""


def is_lone(stop: Stop) -> bool:
    """Whether a single request was refused, and those sent before and after it were not."""
    return stop.hits == 1 and not stop.asked and not stop.trickles


def is_pair(stop: Stop) -> bool:
    """Whether two single requests were refused, the second soon after it had reopened."""
    return stop.hits == 1 and not stop.asked and stop.trickles == 1


def pass_over(state: PaceState, now: float) -> bool:
    """Whether the stop that has just ended changes nothing, for nothing confirms it."""
    stop, taken = state.stop, state.delivery.count
    passed = _passed(state, now)
    if not is_lone(stop) or stop.resuming:
        return False  # of what is only remembered, one refusal is enough to doubt it
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
    """The highest rate that was taken lately, with the one before this stop."""
    first = state.stop.first
    rate = state.delivery.count(first - PASSED_S, first) / PASSED_S
    if rate >= state.passed or now - state.passed_at > PASSED_LASTS_S:
        state.passed, state.passed_at = rate, now
    return state.passed


def may_be_quota(stop: Stop) -> bool:
    """Whether hardly any was taken that was sent after the refused one: a quota takes none."""
    return stop.after <= stop.hits


def used_of(state: PaceState, suspect: Window, until: float) -> float:
    """What was taken of a suspected quota since it was last renewed."""
    periods = max(0.0, until - suspect.until) // suspect.seconds
    return state.delivery.count(suspect.until + periods * suspect.seconds, until)


def is_confirmed(state: PaceState, suspect: Window) -> bool:
    """Whether the stop came when as much was used as at the stop that raised the suspicion."""
    stop, count = state.stop, suspect.count
    end = min(stop.first, suspect.until + suspect.seconds)
    if is_outgrown(suspect, state.delivery.count(suspect.until, end)):
        return False
    since_renewed = used_of(state, suspect, stop.first)
    if suspect.since <= state.opened <= suspect.until + 1:
        since_renewed = state.answered  # no slot of time is cut in two
    alike = abs(since_renewed - count) <= ALIKE * count + ODD
    return is_full(state, suspect) or (alike and _is_in_step(state, suspect))


def is_full(state: PaceState, suspect: Window) -> bool:
    """Whether a suspected quota had been used up in the time before the stop, as often as then."""
    used = state.delivery.count(state.stop.first - suspect.seconds, state.stop.first)
    return abs(used - suspect.count) <= ALIKE * suspect.count + ODD


def _is_in_step(state: PaceState, suspect: Window) -> bool:
    """Whether both stops name ends that are whole windows apart, as those of a quota are."""
    apart = (state.stop.told_until - suspect.until) / suspect.seconds
    return abs(apart - round(apart)) * suspect.seconds <= STEP_S + 2 * state.latency


def is_outgrown(suspect: Window, used: float) -> bool:
    """Whether more was taken than the suspected quota has."""
    return used > OUTGROWN * suspect.count + ODD


def is_at_end(suspect: Window, used: float, waiting: int) -> bool:
    """Whether the next one must wait for those before it: the suspected quota may end here."""
    beyond = used + waiting - suspect.count
    return beyond >= -ODD and waiting > max(0.0, 2 * beyond)


def forget_unproved(state: PaceState, now: float) -> None:
    """After a rest: begin afresh where all that is remembered rests on one refusal."""
    window, suspect = state.window, state.suspect
    if window is not None and not (window.firm or window.proved):
        state.window, state.settled = None, False
        state.rate = Level(start=state.rate.start, cheap=state.rate.cheap)
    if suspect is not None and now > suspect.until + suspect.seconds:
        state.suspect = None
