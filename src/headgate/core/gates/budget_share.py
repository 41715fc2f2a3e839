"""The share of one process in a budget that several processes spend.

A process draws about as much as it uses between two exchanges; the shared state counts a draw as
spent at once. So all processes together never spend more than the budget, and a process that dies
leaves at most its last draw unused.
"""

import math
from collections.abc import Iterable

from headgate.core.gates.budget import Budget, BudgetState, Cap, Cost, usable_amount

REQUESTS = "requests"
"""Name of the amount of which every request costs 1."""
AHEAD = 1.25
"""Amount drawn, as a multiple of the amount used since the last exchange."""
NEWEST = 0.2
"""Weight of the newest actual cost in the typical cost of a request."""


LOOK_AGAIN_S = 1.0
"""Seconds until others may have given back what they did not need."""
NOTHING: Cost = {}


class BudgetShare:
    def __init__(self, caps: Iterable[Cap]) -> None:
        self._caps = tuple(caps)
        names = dict.fromkeys(cap.name for cap in self._caps)
        self._left = dict.fromkeys(names, 0.0)
        """Drawn and not spent; negative where an estimate was too low."""
        self._used = dict.fromkeys(names, 0.0)
        """Since the last exchange."""
        self._typical: dict[str, float] = {}
        self._asked: dict[str, float] = {}
        """The cost of a request that waits."""
        self._opens_at = -math.inf
        """When there is room for that cost."""
        self._narrowest: Cap | None = None
        self._offered: dict[str, float] = {}
        """Change of `_left` if the present proposal is accepted."""
        self.drawn: Cost = NOTHING
        self._copy: BudgetState | None = None
        self._owed = dict.fromkeys(names, 0.0)
        """Amounts drawn from that copy while the ledger did not answer."""

    # ---- before a request and after it

    def estimate(self, cost: Cost) -> dict[str, float]:
        """The whole cost of a request: the given amounts, typical amounts for the rest."""
        usual = {REQUESTS: 1.0, **self._typical}
        return {name: usable_amount(cost.get(name, usual.get(name, 0.0))) for name in self._left}

    def opens_at(self, now: float, cost: Cost) -> float:
        """Time at which a request of this cost may be sent; infinite: after the next exchange."""
        whole = self.estimate(cost)
        if all(amount <= self._left[name] for name, amount in whole.items()):
            return now
        if self._opens_at > now and not self._asks_for_less(whole):
            return self._opens_at
        self._asked, self._opens_at = whole, -math.inf
        return math.inf

    def _asks_for_less(self, whole: Cost) -> bool:
        """There may be room for this cost though there is none for the cost asked for before."""
        asked = {name: self._asked.get(name, 0.0) for name in whole}
        return whole != asked and all(amount <= asked[name] for name, amount in whole.items())

    def take(self, cost: Cost) -> dict[str, float]:
        whole = self.estimate(cost)
        self._spend(whole)
        self._asked = {}
        return whole

    def settle(self, reserved: Cost, actual: Cost) -> dict[str, float]:
        """Replace reserved amounts by the known actual ones; return what is reserved now."""
        known = {
            name: usable_amount(amount) for name, amount in actual.items() if name in self._left
        }
        self._spend({name: amount - reserved[name] for name, amount in known.items()})
        for name, amount in known.items():
            before = self._typical.get(name, amount)
            self._typical[name] = before + NEWEST * (amount - before)
        return {**reserved, **known}

    def give_back(self, reserved: Cost) -> dict[str, float]:
        """The request was refused: give back all but its count as a request."""
        back = {name: amount for name, amount in reserved.items() if name != REQUESTS}
        self._spend({name: -amount for name, amount in back.items()})
        return {**reserved, **dict.fromkeys(back, 0.0)}

    def _spend(self, cost: Cost) -> None:
        for name, amount in cost.items():
            self._left[name] -= amount
            self._used[name] += amount

    # ---- exchanges with the ledger

    def due(self, now: float) -> bool:
        """Whether a request waits for the result of an exchange."""
        return bool(self._asked) and self._opens_at <= now

    @property
    def idle(self) -> bool:
        return not (self._asked or any(self._left.values()) or any(self._used.values()))

    def draw(
        self, state: BudgetState | None, now: float, members: int, spare: Cost = NOTHING
    ) -> BudgetState:
        """The shared state after we gave back what was left and drew again.

        `members` is 0 when the process leaves: nothing is drawn. `spare` is what others have drawn
        and not spent: they may give it back with their next exchange.
        """
        budget = Budget(self._caps, state)
        budget.add(now, {name: self._owed[name] - left for name, left in self._left.items()})
        self._narrowest = budget.narrowest(now, self._asked)
        self._opens_at = budget.opens_at(now, self._asked)
        if self._opens_at > now and self._may_come_back(budget.state, now, spare):
            self._opens_at = min(self._opens_at, now + LOOK_AGAIN_S)
        drawn = {name: self._part(budget, now, name, members) for name in self._left}
        budget.add(now, drawn)
        self.drawn = drawn
        self._offered = {name: drawn[name] - left for name, left in self._left.items()}
        budget.state.typical.update(self._typical)
        return budget.state

    def _may_come_back(self, state: BudgetState, now: float, spare: Cost) -> bool:
        budget = Budget(self._caps, state)
        budget.add(now, {name: -amount for name, amount in spare.items()})
        return budget.opens_at(now, self._asked) <= now

    def _part(self, budget: Budget, now: float, name: str, members: int) -> float:
        asked = self._asked.get(name, 0.0)
        if not members or (asked and self._opens_at > now):
            return 0.0  # we could not use it yet, and others may
        fair = min(AHEAD * self._used[name], budget.room(now, name) / members)
        return max(fair, asked, 0.0)

    def accepted(self, state: BudgetState, now: float) -> None:
        self._owed = dict.fromkeys(self._left, 0.0)
        self._take_in(now)
        self.seen(state)

    def lost(self, now: float, members: int) -> None:
        """The ledger does not answer: continue with half a share of the state last seen."""
        before, self._owed = self._owed, dict.fromkeys(self._left, 0.0)
        self._copy = self.draw(self._copy, now, 2 * members)
        self._owed = {name: before[name] + change for name, change in self._offered.items()}
        self._take_in(now)

    def _take_in(self, now: float) -> None:
        for name, change in self._offered.items():
            self._left[name] += change
            self._used[name] = 0.0
        if self._opens_at <= now:
            self._asked = {}

    def seen(self, state: BudgetState) -> None:
        """Another process changed the shared state; its typical costs fill in for ours."""
        self._offered, self._copy = {}, state
        self._typical = {**state.typical, **self._typical}

    # ---- display

    def spent_cap(self, now: float) -> tuple[Cap, float] | None:
        """The cap that holds back the waiting request, and until when."""
        if self._asked and self._narrowest is not None and self._opens_at > now:
            return self._narrowest, self._opens_at
        return None
