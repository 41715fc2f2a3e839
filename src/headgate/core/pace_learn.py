"""What a stop that has ended says about the limit."""

from headgate.core.pace_state import Evidence, PaceState, Probe, Window

USUAL_WINDOWS_S = (10.0, 60.0, 3_600.0, 86_400.0)
EVIDENCE = 40


def note(
    state: PaceState, now: float, seen: str, decided: str, before: float | None = None
) -> None:
    """Keep one decision for those who ask why."""
    line = Evidence(now, seen, decided, before or state.rate.known, state.rate.known)
    state.evidence = [*state.evidence[1 - EVIDENCE :], line]


def learn(state: PaceState, now: float) -> None:
    """Set the rate by the stop that has just ended."""
    stop, known = state.stop, state.rate.known
    cut, first, last = stop.cut, stop.first, stop.last
    if _is_window(state, now):
        _learn_window(state, now)
        return
    if stop.trickles or (last - first > 0.2 and not stop.told_s):
        _learn_trickle(state, now, known or cut)
        return
    if known is None:
        unsettle(state, now, 0.75 * cut, "first")
        return
    if stop.surprise:
        _learn_surprise(state, now)
    else:
        _learn_probe(state, now, known)


def _is_window(state: PaceState, now: float) -> bool:
    """Whether the stop ended because a long quota was renewed."""
    stop, window = state.stop, state.window
    if stop.told_s:
        return stop.told_s > 1.5
    dark_s = stop.last - stop.dark
    if dark_s > 1.5:
        return True
    if window is not None:
        used = state.delivery.count(stop.first - window.seconds, stop.first)
        return used > 0.8 * window.count
    expected = dark_s * (state.rate.known or stop.cut)
    return now - stop.last > 3 and stop.asked >= 1 and expected > 12


def _learn_trickle(state: PaceState, now: float, before: float) -> None:
    """Refused again and again: what came through meanwhile is all there is."""
    first, last = state.stop.first, state.stop.last
    came = (state.delivery.count(first, last) + 0.6) / max(last - first, 0.05)
    floor = (0.15 if last - first > 1 else 0.4) * before
    if state.probe is not None:
        floor = max(floor, min(state.probe.known, 0.9 * before))
    estimate = max(min(came, 0.8 * before), floor)
    if estimate < 0.6 * before:
        state.probe = None
    unsettle(state, now, estimate, "trickle")


def _learn_surprise(state: PaceState, now: float) -> None:
    """Refused below what was trusted: a little too high, or, if that happens again, fallen."""
    stop, taken, cut = state.stop, state.delivery.count, state.stop.cut
    span = max(stop.first - state.opened, 0.02)
    got = taken(state.opened, stop.first)
    low = taken(stop.previous, stop.first) / (stop.first - stop.previous)
    high = got / span
    again = got < 30 or span < 5
    state.surprises = state.surprises + 1 if again else 1
    if state.surprises < 2:
        estimate = max((low + high) / 2, 0.93 * cut)
    else:
        estimate = max(0.7 * low + 0.3 * high, 0.4 * cut)
    estimate = min(estimate, 0.98 * cut)
    if state.surprises < 2 or (got > 30 and span > 2):
        settle(state, now, estimate, "surprise")
    else:
        unsettle(state, now, estimate, "surprise")


def _learn_probe(state: PaceState, now: float, known: float) -> None:
    """Refused while looking for more: close above what was known, or far above it."""
    state.surprises = 0
    stop, taken, since = state.stop, state.delivery.count, state.probe_since
    cut = stop.cut
    low = taken(stop.previous, stop.first) / (stop.first - stop.previous)
    if not state.settled:
        if cut <= 1.12 * known:
            settle(state, now, max(0.97 * known, cut / 1.08), "found")
            return
        if state.tries >= 4:
            state.probe = None
            settle(state, now, max(known, low), "enough")
            return
    elif cut <= 1.08 * known:
        settle(
            state, now, max(known, min(low, cut / 1.03), known + (cut / 1.03 - known) / 2), "probe"
        )
        return
    elif state.burst is not None:
        extra = taken(since, stop.first) - known * (stop.first - since)
        if extra <= 1.3 * state.burst + 1.5:
            settle(state, now, max(1.01 * known, low), "probe burst")
            return
    if cut < 1.6 * known and _to_earn(state, now, 8) > 0:
        settle(state, now, max(known + (cut / 1.1 - known) / 4, low), "probe")
        return
    if state.probe is None:
        state.probe = Probe(since, stop.first, taken(since, stop.first), known)
    unsettle(state, now, min(max(low, (known + cut) / 2), cut / 1.03), "between")


def _learn_window(state: PaceState, now: float) -> None:
    stop, known = state.stop, state.rate.known
    dark_s = stop.told_until - stop.dark - 0.5 if stop.told_s else stop.last - stop.dark
    seconds = state.window.seconds if state.window else 0.0
    if (
        known
        and len(state.recent) + stop.count >= 8
        and dark_s > max(2 * seconds, 15)
        and state.bans < 2
        and (state.settled or seconds)
    ):
        state.bans += 1
        unsettle(state, now, 0.9 * known, "ban?")
        return
    state.bans = 0
    seconds, count = _pick_window(state, now, dark_s)
    fresh = state.window is None or seconds != state.window.seconds
    state.window = Window(max(count, 1.0), seconds, _renewed(state, now, seconds)[1], not fresh)
    settle(state, now, max(count / seconds, 0.005), f"window {count:.0f} in {seconds:g} s")
    if fresh:
        state.rate.hold_s = 0.0
        state.rate.excess = 0.02


def _pick_window(state: PaceState, now: float, dark_s: float) -> tuple[float, float]:
    """The window that explains the stop, and what it takes."""
    old, taken = state.window, state.delivery.count
    usual = [seconds for seconds in USUAL_WINDOWS_S if seconds >= 0.97 * dark_s] or [dark_s]
    if old is not None and dark_s <= 1.1 * old.seconds:
        early, late = _renewed(state, now, old.seconds)
        count = (taken(early - old.seconds, early) + taken(late - old.seconds, late)) / 2
        shorter = [seconds for seconds in usual if seconds < old.seconds]
        if not shorter or not old.firm or count < 1.3 * old.count:
            return old.seconds, count
        usual = shorter
    for seconds in usual:
        early, _ = _renewed(state, now, seconds)
        count = taken(early - seconds, early)
        if taken(early - 2 * seconds, early - seconds) <= 2 * count + 5 or seconds > 60:
            break
    return seconds, count


def _renewed(state: PaceState, now: float, seconds: float) -> tuple[float, float]:
    """When the quota was renewed: not before, and not after."""
    stop = state.stop
    if stop.told_s:
        return max(stop.told_until - 1.0, stop.last), stop.told_until
    return stop.last, min(now, stop.last + 0.3 * seconds)


def unsettle(state: PaceState, now: float, est: float, why: str) -> None:
    """Only the order of size is known: go there, and look soon."""
    if state.settled and why in ("trickle", "surprise"):
        state.fell_at, state.fell_from = (
            now,
            max(state.rate.known or 0.0, state.fell_from if now - state.fell_at < 30 else 0.0),
        )
    state.tries = 0 if state.settled else state.tries + 1
    state.settled, state.confirmed = False, 0
    before = state.rate.known
    state.rate.set(est, max(2.0, 10 / est), max(1.0, 3 / est), max(2.5, 3 / est), 0.02)
    note(state, now, f"{why}, refused at {state.stop.cut:.3g}/s", "look soon", before)


def settle(state: PaceState, now: float, est: float, why: str) -> None:
    """The level is known: stay below it for a while."""
    before = state.rate.known
    if state.probe is not None:
        probe, state.probe = state.probe, None
        extra = probe.taken - est * (probe.until - probe.since)
        state.burst = min(max(0.0, extra), 4 * est)
    fallen = now - state.fell_at < 300
    same = before and state.settled and (fallen or abs(est / before - 1) < 0.04)
    state.confirmed = state.confirmed + 1 if same else 0
    state.settled, state.tries = True, 0
    if state.window is not None and est * state.window.seconds > 1.1 * state.window.count:
        state.window = None
    if fallen:
        hold = min(10 * 1.3**state.confirmed, 30.0)
    else:
        pause = min(now - state.stop.dark, 2.0)
        hold = max(8 * 1.5 ** min(state.confirmed, 5), 30 * pause, min(100 / est, 30.0))
    hold = max(hold, min(_to_earn(state, now, 28 if fallen else 8) / est, 90.0))
    slow, fast = max(2.0, 4 / est), max(2.5, 3 / est)
    if fallen:
        slow, fast = 2.0, 1.0 if est < 0.6 * state.fell_from else 2.5
    if state.window is not None:
        hold = max(hold, 2.5 * state.window.seconds)
        slow = max(slow, state.window.seconds)
        fast = max(fast, state.window.seconds / 2)
    state.rate.set(est, min(hold, 200.0), slow, fast)
    note(state, now, f"{why}, refused at {state.stop.cut:.3g}/s", f"hold for {hold:.0f} s", before)


def _to_earn(state: PaceState, now: float, free: int) -> float:
    """Requests that must be taken before another refusal is no more than their due share."""
    refused = state.refused.count(now - 600, now) + 1 - free
    return refused / 0.004 - state.delivery.count(now - 600, now)
