"""What to make of a limit that the provider names."""

from headgate.core.pace_state import PaceState
from headgate.core.quota import Quota


def heed(state: PaceState, now: float, quota: Quota | None) -> None:
    """Go by what the provider tells, without looking for more."""
    if quota is None:
        return
    rate = quota.rate
    if rate is None or quota.count is None or quota.seconds is None:
        return
    if rate != state.rate.known or not state.told:
        state.rate.set(rate, 1e12, 2.0, 1.0)
        state.told = True
        state.due = min(state.due, now + 1 / rate)
    if quota.remaining is None:
        return
    plenty = quota.remaining > max(3.0, 0.1 * quota.count)
    state.rate.margin = 0.995 if plenty else 0.997 - 0.025 / quota.seconds
    if quota.remaining <= 0 and quota.reset_s and quota.seconds > 2:
        state.shut_until = max(state.shut_until, now + quota.reset_s)
