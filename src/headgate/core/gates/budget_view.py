"""The use of a gate's budgets, as users see it."""

import msgspec

from headgate.core.gates.budget import Budget, BudgetState, Cap, caps_of
from headgate.core.provider import ProviderPolicy

REQUESTS = "requests"


class BudgetUse(msgspec.Struct, frozen=True):
    """A cap and its use. Amounts that processes have drawn ahead count as used."""

    name: str
    count: float
    seconds: float
    hard: bool
    """A job pauses when the cap is spent."""
    used: float
    turns_at: float | None = None
    """End of a hard cap's window, in seconds."""


class SpentCap(msgspec.Struct, frozen=True):
    words: str
    until: float


def uses_of(state: BudgetState | None, policy: ProviderPolicy, now: float) -> list[BudgetUse]:
    """Every cap of a gate, also where nothing was spent."""
    return [_use(cap, state, now) for cap in caps_of(policy.budget, policy.hard_caps)]


def spent_cap(state: BudgetState | None, policy: ProviderPolicy, now: float) -> SpentCap | None:
    """The cap that has no room for a request of the typical cost, if there is one."""
    if state is None:
        return None
    budget = Budget(caps_of(policy.budget, policy.hard_caps), state)
    usual = {REQUESTS: 1.0, **state.typical}
    cap = budget.narrowest(now, usual)
    return SpentCap(f"{cap.words} are spent", budget.opens_at(now, usual)) if cap else None


def _use(cap: Cap, state: BudgetState | None, now: float) -> BudgetUse:
    room = Budget((cap,), state).room(now, cap.name)
    turns_at = (cap.part_at(now) + 1) * cap.limit.seconds if cap.hard else None
    used = cap.limit.count - room
    return BudgetUse(cap.name, cap.limit.count, cap.limit.seconds, cap.hard, used, turns_at)
