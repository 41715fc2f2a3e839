"""What a refusal does: it closes the gate and sets the time of the next test."""

from typing import NamedTuple

from headgate.core.pacing.declared import contradict
from headgate.core.pacing.evidence_text import asked_again, refused_at
from headgate.core.pacing.level import Level
from headgate.core.pacing.state import PaceReading, PaceState, Stop
from headgate.core.pacing.trust import note
from headgate.core.pacing.window import USUAL_S

BAN_S = 10.5
BAN_COUNT = 10
"""Refusals in `BAN_S` seconds for which providers ban."""
CAP_HOLD_S = 20.0
"""Seconds for which a cap on requests in flight is kept before more is tried."""
CAP_TRIAL_S = 10.0
"""Seconds after which a cap that held requests back is judged by what was accepted."""
CAP_WORTH = 0.7
"""Share of the earlier rate below which the cap is not the limit."""
SOON = 1.25
"""Multiple of the wait within which the end of a usual window is waited for instead."""
WINDOW_SHARE = 0.03
"""Share of a known full window to wait for at least, since it does not end in a moment."""
PAUSE_S = 0.1
"""Shortest stop in seconds: replies within a round trip of a millisecond prove nothing."""


class PaceRefusal(NamedTuple):
    sent_at: float
    in_flight: int
    retry_after: float | None
    asked: bool
    """The refused request was the single test of a stop."""
    bare: bool
    """A 503 without Retry-After."""


def refuse(state: PaceState, now: float, refusal: PaceRefusal) -> PaceReading:
    sent_at, in_flight, retry_after, asked, bare = refusal
    stop = state.stop
    state.refusals += 1
    state.refused.add(now)
    state.recent = [at for at in state.recent if at > now - BAN_S] + [now]
    stop.bare = bare and (stop.bare or not stop.open)
    if stop.open and not asked:
        stop.hits += 1
        stop.storm = max(stop.storm, len(state.recent))
        stop.alone |= not state.told and stop.storm > 2
        stop.last = max(stop.last, sent_at)
        if retry_after:
            stop.told_until = min(stop.told_until, now + retry_after)
            stop.ask_at = max(stop.ask_at, now + retry_after)
        _avoid_ban(state)
        return PaceReading(refused=True, retry_in_s=max(0.0, stop.ask_at - now))
    if sent_at < state.opened:
        return PaceReading(refused=True)
    if state.told:
        contradict(state, now)
    elif not asked and _is_concurrency_limit(state, now, in_flight):
        state.answered += 1
        return PaceReading(refused=True, retry_in_s=retry_after or 0.0)
    _close(state, now, sent_at, retry_after, asked=asked)
    return PaceReading(refused=True, retry_in_s=stop.ask_at - now)


def _close(
    state: PaceState, now: float, sent_at: float, retry_after: float | None, *, asked: bool
) -> None:
    stop = state.stop
    trickle = not asked and state.opened > 0 and state.answered < 5
    if asked:
        stop.alone = True
        stop.asked += 1
        stop.wait = _next_test_s(stop, now, sent_at - stop.dark)
    elif trickle:
        stop.trickles += 1
        stop.asked, stop.storm = 0, len(state.recent)
        stop.dark = sent_at
        stop.wait = max(state.latency, PAUSE_S, 0.7 * stop.wait)
        stop.alone, stop.told_s = True, 0.0
    else:
        stop.previous, stop.first, stop.dark = stop.first, sent_at, sent_at
        stop.cut, stop.surprise = state.rate.speed(sent_at), not state.rate.probing
        stop.resuming = state.rate.resuming(sent_at)
        stop.wait = max(state.latency, PAUSE_S)
        if state.window is not None:
            stop.wait = max(stop.wait, WINDOW_SHARE * state.window.seconds)
        stop.trickles, stop.told_s, stop.asked = 0, 0.0, 0
        stop.hits, stop.after, stop.storm = 1, 0, len(state.recent)
        stop.alone = not state.told and (
            stop.surprise or len(state.recent) > 2 or state.window is not None
        )
    stop.last = sent_at
    stop.open, stop.noticed, stop.asking = True, now, False
    if retry_after:
        stop.told_s = max(stop.told_s, retry_after)
        stop.told_until = now + retry_after
    wait = retry_after or stop.wait
    if stop.asked > 1:
        wait = max(wait, stop.wait)  # the short Retry-After proved wrong
    stop.ask_at = max(now + wait, state.sent_at + 1 / state.rate.value)
    if trickle and not retry_after:
        came = (state.delivery.count(stop.first, sent_at) + 1) / max(sent_at - stop.first, 0.02)
        stop.ask_at = max(stop.ask_at, min(sent_at + 1 / came, now + 2))
    if not retry_after and state.window is not None:
        window = state.window
        left = (window.until - now) % window.seconds
        if left < 0.5 * window.seconds and window.until - window.since <= 0.3 * window.seconds:
            stop.ask_at = max(stop.ask_at, now + left + 0.02)
    _avoid_ban(state)
    seen = "the single request was refused" if asked else refused_at(state.rate.value)
    seen = f"{seen}, soon after it had reopened" if trickle else seen
    note(state, now, seen, asked_again(stop.ask_at - now, alone=stop.alone))


def _next_test_s(stop: Stop, now: float, dark_s: float) -> float:
    """Seconds until the next test; the third tells a one-second window from longer ones.

    Later tests are further and further apart. If a usual window ends before the next test or soon
    after it, the test waits for that end: it costs fewer requests, and its answer says more.
    """
    if stop.asked == 1:
        return max(stop.wait, stop.dark + 0.45 - now, dark_s)
    if stop.asked == 2:
        return max(stop.wait, stop.dark + 1.1 - now, dark_s)
    wait = min(3 * stop.wait, max(4.0, 1.5 * dark_s))
    for usual in USUAL_S:
        if dark_s < usual < SOON * (dark_s + wait):
            return usual - dark_s + 0.5
    return wait


def _avoid_ban(state: PaceState) -> None:
    """Providers ban for many refusals in a short time: near that number, let the old ones age."""
    stop, over = state.stop, len(state.recent) - BAN_COUNT
    if over < 0 or stop.told_s:
        return
    at_once = stop.dark >= stop.last - 0.1
    if at_once and 0 < over <= 9:
        return  # a ban for these would have come already
    stop.alone = True
    if at_once and state.settled and state.window is None:
        stop.ask_at = max(stop.ask_at, stop.dark + 1.1)  # no known limit lasts longer
    else:
        stop.ask_at = max(stop.ask_at, state.recent[over] + BAN_S)


def _is_concurrency_limit(state: PaceState, now: float, in_flight: int) -> bool:
    """Whether the number in flight was the cause; then only the refused request waits."""
    rate, crowd = state.rate, state.crowd
    if state.cap is not None and in_flight >= (state.cap.known or 1.0) - 1:
        if _is_worth_it(state, now, state.cap):
            _confirm(state, state.cap, in_flight)
            return True
        state.cap, crowd.refused = None, []
        rate.set(rate.known or rate.value, 2.0, 1.0, 2.5)
    crowd.refuse(in_flight)
    if rate.known is None:
        return False
    least = crowd.limit(steady=rate.value <= 1.25 * rate.known)
    if least is not None:
        state.cap = Level(known=least - 1.0, hold_s=max(CAP_HOLD_S, 600 / rate.value))
        crowd.confirmed = crowd.doubts = 0
        rate.set(rate.value, 1.0, 0.7, 0.7)
        return True
    if crowd.enough:
        state.cap = None
    return False


def _is_worth_it(state: PaceState, now: float, cap: Level) -> bool:
    """A real cap allows about the earlier rate; judged once it has held requests back."""
    if cap.age_s < CAP_TRIAL_S:
        return True
    taken = state.delivery.count(now - CAP_TRIAL_S, now)
    return taken > CAP_WORTH * CAP_TRIAL_S * (state.rate.known or 0.0)


def _confirm(state: PaceState, cap: Level, in_flight: int) -> None:
    """Adjust a cap after a refusal above it, or at it, where requests may overtake."""
    crowd, known = state.crowd, cap.known or 1.0
    if cap.probing:
        crowd.confirmed = crowd.confirmed + 1 if in_flight - 1 <= known else 0
        crowd.doubts = 0
        known = max(known, in_flight - 1.0)
    else:
        crowd.confirmed, crowd.doubts = 0, crowd.doubts + 1
        if crowd.doubts > 1:
            crowd.doubts, known = 0, max(known - 1, 1.0)
    hold_s = max(CAP_HOLD_S * 1.5 ** min(crowd.confirmed, 4), 600 / state.rate.value)
    cap.set(known, hold_s, 2.0, 2.5)
