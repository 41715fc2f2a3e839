"""The workload of a plan, and the assumed provider."""

import msgspec

from headgate.core.gates.budget import BudgetState, Cap, Cost
from headgate.core.pacing.pace import UNLIMITED
from headgate.core.pacing.state import PaceState
from headgate.core.rate import Ceilings, Limit


class Assumed(msgspec.Struct, frozen=True):
    """A provider's real limits, for each credential; without limits it accepts everything."""

    limits: tuple[Limit, ...] = ()
    cap: int | None = None
    """Requests that it accepts at once."""
    tells: bool = False
    """The headers of every answer declare the limit."""
    says_when: bool = False
    """A refusal says when to try again."""


class Workload(msgspec.Struct, frozen=True):
    """Requests to be answered, and the limits that apply to them."""

    requests: int
    lanes: int = 32
    """Items in flight at once, over all processes."""
    processes: int = 1
    credentials: int = 1
    latency_s: float = 0.2
    ceilings: Ceilings = UNLIMITED
    """Configured limits, for each credential."""
    assumed: Assumed = Assumed()
    remembered: tuple[PaceState, ...] = ()
    """Learned states, credential by credential; the other credentials start with none."""
    caps: tuple[Cap, ...] = ()
    """Budgets, for each credential."""
    spent: tuple[BudgetState | None, ...] = ()
    """Spent parts of the budgets, credential by credential."""
    cost: Cost = {}
    """The cost of one request."""

    @property
    def answerable(self) -> float:
        """Requests a second that the lanes can have answered."""
        return self.lanes / self.latency_s

    def bounds(self) -> list[Limit]:
        """All limits that apply in the long run, in requests, for each credential."""
        spent = [
            Limit(cap.limit.count / cost, cap.limit.seconds)
            for cap in self.caps
            if (cost := self.cost.get(cap.name, 0.0)) > 0
        ]
        return [*self.assumed.limits, *self.ceilings.limits, *spent]

    @property
    def allowed(self) -> float:
        """Requests a second that all limits and the lanes let through in the long run."""
        rates = (limit.count / limit.seconds * self.credentials for limit in self.bounds())
        return min([*rates, self.answerable])


def learned_of(state: PaceState) -> Assumed | None:
    """The provider that a learned pace describes; None if no limit is known yet."""
    cap = int(state.cap.known) if state.cap is not None and state.cap.known else None
    says_when = state.stop.told_s > 0
    if state.told:
        return Assumed((Limit(state.told_rate, 1.0),), cap, tells=True, says_when=says_when)
    if state.window is not None:
        limit = Limit(state.window.count, state.window.seconds)
        return Assumed((limit,), cap, says_when=says_when)
    if state.rate.known is not None:
        return Assumed((Limit(state.rate.known, 1.0),), cap, says_when=says_when)
    return Assumed((), cap, says_when=says_when) if cap else None
