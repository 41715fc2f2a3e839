"""Set the rate by what a stop that has ended says about the limit."""

from headgate.core.pacing.evidence_text import refused_at
from headgate.core.pacing.single_refusal import is_lone, is_pair, pass_over
from headgate.core.pacing.state import PaceState, Probe, Window
from headgate.core.pacing.trust import is_fallen, note, note_peak, settle, to_earn, unsettle
from headgate.core.pacing.window import is_window, learn_window, sliding_minute

LOOKING = "looking for a higher rate"
STORM = 6
"""Refusals in a short time after which the next may bring a ban: guess low."""
EARLY_S = 60.0
EARLY = 15
"""Answers below which a refusal follows a burst and says little about the rate."""


def learn(state: PaceState, now: float) -> None:
    stop, known = state.stop, state.rate.known
    if stop.bare and stop.last - stop.dark > 1.05:
        unsettle(
            state, now, 0.9 * known if known else 0.75 * stop.cut, "by 503s without a Retry-After"
        )
        return
    minute = sliding_minute(state)
    if minute is not None:
        state.window = Window(minute, 60.0, now - 60, now, firm=True, proved=True)
        settle(state, now, minute / 60.0, f"as a quota of {minute:.0f} in any minute was used up")
    elif is_window(state, now):
        learn_window(state, now)
    elif pass_over(state, now):
        note(state, now, refused_at(stop.cut, "once"), "rate kept: one refusal proves no limit")
    elif stop.trickles or (stop.last - stop.first > 0.2 and not stop.told_s):
        _learn_trickle(state, now, known or stop.cut)
    elif known is None or stop.resuming:
        early = state.delivery.count(now - EARLY_S, stop.first) < EARLY
        share = 0.5 if early else 0.85 if is_lone(stop) else 0.75
        unsettle(state, now, share * stop.cut, "before the limit was known")
    elif stop.surprise:
        _learn_surprise(state, now)
    else:
        _learn_probe(state, now, known)


def _learn_trickle(state: PaceState, now: float, before: float) -> None:
    """Refused again and again: what was accepted meanwhile is the whole limit."""
    first, last = state.stop.first, state.stop.last
    taken = state.delivery.count
    if _looks_like_a_second(state):
        unsettle(
            state,
            now,
            min(max(taken(last - 1, last), 0.4 * before), before),
            "as the quota of one second was used up",
        )
        return
    came = (taken(first, last) + 0.6) / max(last - first, 0.05)
    lowest = 0.15 if last - first > 1 or state.stop.storm >= STORM else 0.4
    floor = (0.7 if is_pair(state.stop) else lowest) * before
    if state.probe is not None and state.stop.trickles < 2:
        floor = max(floor, min(state.probe.known, 0.9 * before))
    estimate = max(min(came, 0.8 * before), floor)
    if estimate < 0.6 * before:
        state.probe = None
    unsettle(state, now, estimate, "and soon again")


def _looks_like_a_second(state: PaceState) -> bool:
    """While probing, nothing was accepted for less than a second: its window was full."""
    stop = state.stop
    nothing_came = state.delivery.count(stop.first, stop.last) < 1
    return not stop.surprise and stop.trickles < 2 and stop.last - stop.first < 1 and nothing_came


def _learn_surprise(state: PaceState, now: float) -> None:
    """Refused below a trusted level: it was a little too high or, the second time, has fallen."""
    stop, taken, cut = state.stop, state.delivery.count, state.stop.cut
    span = max(stop.first - state.opened, 0.02)
    got = taken(state.opened, stop.first)
    low = _between_stops(state)
    high = got / span
    again = got < 30 or span < 5
    state.surprises = state.surprises + 1 if again else 1
    if state.settled and not again:
        note_peak(state, now, state.rate.known or 0.0)  # it was right until now, and may return
    flooded = stop.hits > 3 and stop.hits / (1 + cut * (stop.noticed - stop.first))
    if flooded:
        likely = state.confirmed and stop.storm < STORM
        estimate = max(1 - flooded, 0.5 if likely else 0.25) * cut
    elif state.surprises < 2:
        estimate = max((low + high) / 2, 0.93 * cut)
    else:
        estimate = max(0.7 * low + 0.3 * high, 0.4 * cut)
    estimate = min(estimate, 0.98 * cut)
    before = state.probe
    if before is not None and before.known > 0.8 * cut and not flooded:
        settle(state, now, 1.005 * before.known, "as a burst was used up")
    elif not flooded and (state.surprises < 2 or estimate > 0.85 * cut or (got > 30 and span > 2)):
        settle(state, now, estimate, "below the known limit")
    else:
        unsettle(state, now, estimate, "below the known limit")


def _learn_probe(state: PaceState, now: float, known: float) -> None:
    state.surprises = 0
    cut = state.stop.cut
    if is_fallen(state, now, known) and cut > 0.95 * state.peak:
        settle(state, now, min(state.peak, cut / 1.03), "close to the earlier limit")
    elif state.settled:
        note_peak(state, now, known)
        _learn_trusted(state, now, known)
    elif cut <= 1.12 * known:
        settle(state, now, max(0.97 * known, cut / 1.08), "just above the accepted rate")
    elif state.tries >= 4:
        state.probe = None
        settle(state, now, max(known, _between_stops(state)), "after several tries")
    else:
        _try_between(state, now, known)


def _learn_trusted(state: PaceState, now: float, known: float) -> None:
    """The trusted level was right until the probe."""
    cut, low = state.stop.cut, _between_stops(state)
    nearly = cut / 1.03
    if cut <= 1.08 * known:
        share = 0.5 if known > 3 else 0.25
        settle(state, now, max(known + share * (nearly - known), known, min(low, nearly)), LOOKING)
    elif _was_burst(state, known) or (cut < 1.6 * known and to_earn(state, now, 8) > 0):
        settle(state, now, max(1.005 * known, low), f"{LOOKING}: a burst was used up")
    else:
        _try_between(state, now, known)


def _was_burst(state: PaceState, known: float) -> bool:
    """True if all that was accepted above the rate is the burst known from before."""
    if state.burst is None:
        return False
    since, until = state.probe_since, state.stop.first
    extra = state.delivery.count(since, until) - known * (until - since)
    return extra <= 1.3 * state.burst + 1.5


def _try_between(state: PaceState, now: float, known: float) -> None:
    """The limit is higher, or a burst was used up: the middle rate will show which."""
    stop, taken, since = state.stop, state.delivery.count, state.probe_since
    if state.probe is None:
        state.probe = Probe(since, stop.first, taken(since, stop.first), known)
    middle = max(_between_stops(state), (known + stop.cut) / 2)
    full = stop.hits > 4 and stop.hits > 0.7 * stop.cut * (stop.noticed - stop.first)
    if full and not stop.told_s and stop.last - stop.dark > 0.5:
        middle = min(middle, max(known, taken(stop.first - 10, stop.first) / 10))
    unsettle(state, now, min(middle, stop.cut / 1.03), LOOKING)


def _between_stops(state: PaceState) -> float:
    """Requests a second accepted between the last two stops: at most the limit."""
    stop = state.stop
    return state.delivery.count(stop.previous, stop.first) / max(stop.first - stop.previous, 0.05)
