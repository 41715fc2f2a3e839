"""Apply a limit that the provider declares, until a refusal contradicts it."""

from headgate.core.pacing.headers import Quota
from headgate.core.pacing.state import PaceState
from headgate.core.pacing.trust import note

DOUBLING_S = 0.4
"""Seconds in which the rate doubles on the way to a declared limit, since the limit may be
wrong."""
CONTRADICTED_SHARE = 0.65
"""Share of the rate last accepted from which the search starts after a declared limit was wrong."""
IGNORED_S = 600.0
"""Seconds for which declared limits are ignored after a refusal below the declared limit."""
BRIEF_S = 1.0
"""Longest window, in seconds, in which the mean rate is used: there `remaining` falls with our
rate."""
BRIEF_SHARE = 0.95
"""Share of the mean rate used in windows up to `BRIEF_S`."""
PLENTY = 0.06
"""A window that always keeps more than this share is hardly used; windows that are used up keep
less at times."""
SILENCE_S = 60.0
"""Seconds after which a provider that declares nothing no longer counts as declaring."""


def apply_declared(
    state: PaceState, now: float, quota: Quota | None, longest_wait_s: float
) -> None:
    if quota is None or now < state.ignored_until:
        if state.told and now - state.told_at > SILENCE_S:
            _forget(state)
        return
    rate = _rate(state, quota)
    if rate is None:
        return
    before = state.rate.known or state.rate.value
    if not state.told or abs(rate / state.told_rate - 1) > 0.2:
        state.told_since = now
    since = min(now - state.told_at, 1.0) if state.told else 0.0
    early_s = 0.0 if state.told else _early_s(state, quota, before, rate)
    state.told, state.told_at, state.told_rate = True, now, rate
    known = min(rate, before * 2 ** (since / _doubling_s(state, before)))
    if known != state.rate.known:
        state.rate.set(known, 1e12, 2.0, 2.5)
        state.due = max(min(state.due, now + 1 / known), state.sent_at + 1 / known) + early_s
    state.rate.margin = _margin(state, now, quota)
    if quota.remaining is not None and quota.remaining <= 0 and (quota.seconds or 60) > 2:
        state.shut_until = max(state.shut_until, now + min(quota.reset_s or 0.0, longest_wait_s))


def _early_s(state: PaceState, quota: Quota, before: float, rate: float) -> float:
    """Extra spacing for requests sent before the limit was declared."""
    sent = min(state.sent, rate * (quota.seconds or BRIEF_S))
    return max(0.0, sent * (1 / rate - 1 / before))


def _doubling_s(state: PaceState, rate: float) -> float:
    """A wrong limit costs the requests then in flight: where they are many, grow more slowly."""
    dear = rate > state.rate.CAUTION * state.rate.cheap
    return 3 * DOUBLING_S if dear else DOUBLING_S


def contradict(state: PaceState, now: float) -> None:
    """Refused under a declared limit: ignore the limit if the rate was below it."""
    if now - state.told_since < max(1.5, 3 * state.latency):
        return  # the limit has just changed, and this request was sent before
    span = 1.0 if state.told_rate > 5 else 10.0
    taken = state.delivery.count(now - span, now) / span
    if taken > 0.8 * state.told_rate:
        state.rate.margin = max(0.9, state.rate.margin - 0.02)
        return
    state.ignored_until = now + IGNORED_S
    state.rate.known = max(CONTRADICTED_SHARE * taken, 0.25 * state.rate.value)
    _forget(state)
    note(state, now, "refused below the limit that its headers name", "headers ignored for 10 min")


def _forget(state: PaceState) -> None:
    state.told, state.settled = False, False
    state.rate.margin, state.rate.hold_s = 0.985, state.rate.age_s + 2.0


def _rate(state: PaceState, quota: Quota) -> float | None:
    """Requests a second; without a window, `remaining` spread over the time to the reset."""
    if quota.rate is not None:
        return quota.rate
    if min(quota.remaining or 0.0, quota.reset_s or 0.0) <= 0:
        return None
    remaining, reset_s = quota.remaining or 0.0, quota.reset_s or 0.0
    state.told_window = max(state.told_window, reset_s)
    mean = quota.count / state.told_window if quota.count and quota.count > 0 else None
    most = 4 * mean if mean else 1e6
    least = BRIEF_SHARE * mean if mean and state.told_window <= BRIEF_S else 1e-5
    return min(max(remaining / reset_s, least), most)


def _margin(state: PaceState, now: float, quota: Quota) -> float:
    """The share of the declared rate to use; requests may overtake each other in flight."""
    if quota.remaining is None or not quota.count or not quota.seconds:
        return 0.98
    if state.rate.known != state.told_rate:  # while the rate still grows, much is left
        state.least = state.least_before = 0.0
        state.least_since = now
    elif now - state.least_since > max(2.0, min(quota.seconds, 60.0)):
        state.least_before, state.least, state.least_since = state.least, quota.remaining, now
    state.least = min(state.least, quota.remaining)
    plenty = min(state.least, state.least_before) > max(3.0, PLENTY * quota.count)
    return 0.995 if plenty else 0.997 - min(0.025 / quota.seconds, 0.1)
