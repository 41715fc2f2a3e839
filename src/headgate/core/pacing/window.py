"""Quotas that are renewed after a long time: recognised by stops that only time could end."""

from headgate.core.pacing.single_refusal import is_confirmed, is_full, is_lone, may_be_quota
from headgate.core.pacing.state import PaceState, Stop, Window
from headgate.core.pacing.trust import settle, unsettle

USUAL_S = (10.0, 60.0, 3_600.0, 86_400.0)
"""Usual lengths of windows in seconds: people choose them."""
LITTLE = 5
"""Requests below which a count says nothing about a window."""
AGAIN = 3
"""Reopenings that fail at once after which the stop is not a renewed quota."""
SOME = 6
"""Requests held up by a Retry-After below which it may come from a slow bucket."""
BANNING = 6
"""Refusals in a short time that may lead to a ban."""
APART_S = 20.0
"""Seconds below which two stops say the same about the last minute."""


def is_window(state: PaceState, now: float) -> bool:
    stop, window = state.stop, state.window or state.wary
    dark_s = stop.last - stop.dark
    expected = dark_s * (state.rate.known or stop.cut)
    if stop.told_s > 1.5 and stop.told_s * (state.rate.known or stop.cut) > SOME:
        return state.wary is not None or stop.storm >= BANNING or _is_second(state, now)
    if not stop.told_s and dark_s > 1.05 and (expected > 12 or dark_s > 4):
        return True
    if window is not None:
        used = state.delivery.count(stop.first - window.seconds, stop.first)
        renewed = stop.trickles >= AGAIN
        if used < 0.5 * window.count or renewed:
            state.window = None  # it cannot be the cause
        return used > 0.8 * window.count and not renewed
    if state.suspect is not None and is_full(state, state.suspect):
        return True
    if stop.told_s or state.rate.known is not None:
        return False
    return now - stop.last > 3 and stop.asked >= 1 and expected > 12


def _is_second(state: PaceState, now: float) -> bool:
    """Whether a long Retry-After is the second at the same count; if not, it becomes the first."""
    stop, before = state.stop, state.suspect
    if state.window is not None:
        return not is_lone(stop) or not stop.surprise
    if not may_be_quota(stop):
        state.suspect = None
        return False
    if before is not None and is_confirmed(state, before):
        return True
    seconds, count = _pick_window(state, now, _dark_s(stop))
    since, until = _renewed(state, now, seconds)
    state.suspect = Window(count, seconds, since, until) if count >= LITTLE else None
    return False


def _dark_s(stop: Stop) -> float:
    """Seconds in which nothing was accepted, or would have been."""
    return stop.told_until - stop.dark - 0.5 if stop.told_s else stop.last - stop.dark


def learn_window(state: PaceState, now: float) -> None:
    stop, known = state.stop, state.rate.known
    dark_s = _dark_s(stop)
    seconds = state.window.seconds if state.window else 0.0
    if (
        stop.storm >= BANNING
        and dark_s > max(1.5 * seconds, 12.0)
        and state.bans < (2 if known else 1)
    ):
        state.bans += 1
        minute = state.delivery.count(stop.first - 60, stop.first)
        state.wary = Window(minute, 60.0, stop.first, now)
        unsettle(
            state,
            now,
            0.85 * known if known else 0.7 * stop.cut,
            "many times: it may be a ban",
            wary=True,
        )
        state.rate.most = stop.cut  # the rate at which it banned, or nearly
        return
    state.bans = 0
    seconds, count = _pick_window(state, now, dark_s)
    if count < LITTLE and state.window is None:
        unsettle(state, now, 0.3 * stop.cut, "after only a few requests")
        return
    if state.window is not None and is_lone(stop) and not stop.surprise:
        count = max(count, state.window.count)  # the probe was refused, not the window
    elif state.window is not None and (count < LITTLE or stop.trickles):
        count = max(
            count, state.window.count / 2
        )  # little was sent between the reopening and the stop
    fresh = state.window is None or seconds != state.window.seconds
    since, until = _renewed(state, now, seconds)
    state.window = Window(max(count, 1.0), seconds, since, until, not fresh, proved=True)
    state.wary = state.suspect = None
    why = f"as a quota of {count:.0f} in {seconds:g} s was used up"
    settle(state, now, count / seconds, why, look_now=fresh)


def _pick_window(state: PaceState, now: float, dark_s: float) -> tuple[float, float]:
    old, taken, suspect = state.window, state.delivery.count, state.suspect
    if old is None and suspect is not None and is_confirmed(state, suspect):
        return suspect.seconds, suspect.count
    usual = [seconds for seconds in USUAL_S if seconds >= 0.97 * dark_s] or [dark_s]
    if state.wary is not None and 60 in usual:
        usual = [60.0]
    if old is not None and dark_s <= 1.1 * old.seconds:
        since, until = _renewed(state, now, old.seconds)
        count = taken(since - old.seconds, since)
        if not state.stop.trickles and until - since < 0.5 * old.seconds:
            count = (2 * count + taken(until - old.seconds, until)) / 3
        shorter = [seconds for seconds in usual if seconds < old.seconds]
        if not shorter or not old.firm or count < 1.3 * old.count:
            return old.seconds, count
        usual = shorter
    for seconds in usual:
        since, _ = _renewed(state, now, seconds)
        count = taken(since - seconds, since)
        if taken(since - 2 * seconds, since - seconds) <= 2 * count + 5 or seconds > 60:
            break
    return seconds, count


def _renewed(state: PaceState, now: float, seconds: float) -> tuple[float, float]:
    """The times between which the quota was renewed, from this stop and earlier ones."""
    stop, window = state.stop, state.window
    if stop.told_s:
        since, until = max(stop.told_until - 1.0, stop.last), stop.told_until
    elif stop.storm >= 8:
        since, until = stop.first, stop.first + seconds
    else:
        since, until = stop.last, min(now, stop.last + 0.3 * seconds)
    if window is not None and window.seconds == seconds:
        ago = round((until - window.until) / seconds) * seconds
        both = max(since, window.since + ago), min(until, window.until + ago)
        if both[0] <= both[1]:
            return both
    return since, until


def sliding_minute(state: PaceState) -> float | None:
    """The quota of any minute, if each stop had the last minute equally full but not its end."""
    stop, taken = state.stop, state.delivery.count
    last, apart = stop.last, stop.first - stop.previous > APART_S
    before = state.full[-3:] if apart else state.full[:-1]
    state.full = [*before, (taken(last - 10, last), taken(last - 60, last))]
    tens, minutes = zip(*state.full, strict=True)
    mean = sum(minutes) / len(minutes)
    if len(minutes) < 4 or max(minutes) - min(minutes) > 0.02 * mean + 1:
        return None
    return mean if max(tens) - min(tens) > 0.15 * max(tens) + 3 else None
