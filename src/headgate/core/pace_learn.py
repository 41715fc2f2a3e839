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
    taken = state.delivery.count
    if stop.told_s > 1.5 or (not stop.told_s and (last - stop.dark > 1.5 or now - stop.dark > 3)):
        _learn_window(state, now)
        return
    if stop.trickles or (last - first > 0.2 and not stop.told_s):
        came = (taken(first, last) + 1) / max(last - first, 0.05)
        before = known or cut
        unsettle(state, now, min(max(came, 0.15 * before), 0.7 * before), "trickle")
        return
    if known is None:
        unsettle(state, now, 0.75 * cut, "first")
        return
    if stop.surprise:
        _learn_surprise(state, now)
    else:
        _learn_probe(state, now, known)


def _learn_surprise(state: PaceState, now: float) -> None:
    """Refused below what was trusted: what came between the last two stops is the limit."""
    stop, taken = state.stop, state.delivery.count
    span = max(stop.first - state.opened, 0.02)
    got = taken(state.opened, stop.first)
    low = taken(stop.previous, stop.first) / (stop.first - stop.previous)
    estimate = (low + got / span) / 2
    if got < 15:
        estimate = (estimate + 0.9 * stop.cut) / 2
    estimate = min(max(estimate, 0.6 * stop.cut), 0.98 * stop.cut)
    if state.settled or (got > 30 and span > 2):
        settle(state, now, estimate, "surprise")
    else:
        unsettle(state, now, estimate, "surprise")


def _learn_probe(state: PaceState, now: float, known: float) -> None:
    """Refused while looking for more: close above what was known, or far above it."""
    stop, taken, since = state.stop, state.delivery.count, state.probe_since
    cut = stop.cut
    low = taken(stop.previous, stop.first) / (stop.first - stop.previous)
    if not state.settled:
        if cut <= 1.12 * known or state.tries >= 4:
            settle(state, now, max(known, cut / 1.06), "found")
            return
    elif cut <= 1.08 * known:
        settle(state, now, max(known, min(low, cut / 1.03)), "probe")
        return
    elif state.burst is not None:
        extra = taken(since, stop.first) - known * (stop.first - since)
        if extra <= 1.3 * state.burst + 1.5:
            settle(state, now, max(1.01 * known, low), "probe burst")
            return
    if state.probe is None:
        state.probe = Probe(since, stop.first, taken(since, stop.first))
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
    fresh = dark_s > seconds * 1.1 or not seconds
    if fresh:
        seconds = next((usual for usual in USUAL_WINDOWS_S if usual >= 0.97 * dark_s), dark_s)
    if stop.told_s:
        lit = stop.told_until - 0.3
    elif now - stop.last < 0.3 * seconds:
        lit = (stop.last + now) / 2
    else:
        lit = stop.dark
    count = state.delivery.count(lit - seconds, lit)
    state.window = Window(count, seconds, lit)
    settle(state, now, max(count / seconds, 0.005), f"window {count:.0f} in {seconds:g} s")
    if fresh:
        state.rate.hold_s = 0.0
        state.rate.excess = 0.02


def unsettle(state: PaceState, now: float, est: float, why: str) -> None:
    """Only the order of size is known: go there, and look soon."""
    if state.settled and why == "trickle":
        state.fell_at = now
    state.tries = 0 if state.settled else state.tries + 1
    state.settled, state.confirmed = False, 0
    before = state.rate.known
    state.rate.set(est, max(2.0, 10 / est), max(1.0, 3 / est), max(0.7, 2 / est), 0.02)
    note(state, now, f"{why}, refused at {state.stop.cut:.3g}/s", "look soon", before)


def settle(state: PaceState, now: float, est: float, why: str) -> None:
    """The level is known: stay below it for a while."""
    before = state.rate.known
    if state.probe is not None:
        probe, state.probe = state.probe, None
        state.burst = max(0.0, probe.taken - est * (probe.until - probe.since))
    same = before and state.settled and abs(est / before - 1) < 0.04
    state.confirmed = state.confirmed + 1 if same else 0
    state.settled, state.tries = True, 0
    hold = 8 * 1.5 ** min(state.confirmed, 5)
    if now - state.fell_at < 300:
        hold = 8.0
    hold = max(hold, min(150 / est, 60.0), 30 * min(now - state.stop.dark, 2.0))
    slow, fast = max(2.0, 4 / est), max(0.7, 2 / est)
    if state.window is not None:
        hold = max(hold, 2.5 * state.window.seconds)
        slow = max(slow, state.window.seconds / 6)
        fast = max(fast, state.window.seconds / 8)
    state.rate.set(est, min(hold, 200.0), slow, fast)
    note(state, now, f"{why}, refused at {state.stop.cut:.3g}/s", f"hold for {hold:.0f} s", before)
