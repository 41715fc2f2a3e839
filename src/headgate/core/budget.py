"""Limits on other things than requests: tokens, bytes, money. Reserve an estimate, then settle.

A limit holds for any stretch of its length, counted in twentieths. A hard cap counts in windows
that begin at whole multiples of its length, days at midnight UTC, as bills do: once it is spent,
nothing goes until the window turns.
"""

import math
from collections.abc import Mapping
from typing import Self

import msgspec

from headgate.core.rate import Limit

Cost = Mapping[str, float]
PARTS = 20
"""Into so many parts a limit's length is divided."""


class Spent(msgspec.Struct):
    """What was spent under one limit: part by part, the newest last."""

    part: int = 0
    """The number of the newest part, counted from time zero."""
    amounts: list[float] = []

    @property
    def total(self) -> float:
        """All that still counts."""
        return math.fsum(self.amounts)

    def turn(self, part: int, keep: int) -> None:
        """Time has passed: what is too old counts no longer."""
        passed = part - self.part
        if passed >= keep or not self.amounts:
            self.amounts = [0.0]
        elif passed > 0:
            self.amounts = (self.amounts + [0.0] * passed)[-keep:]
        self.part = max(part, self.part)

    def add(self, amount: float) -> None:
        """Spend, or take back what was too much, the newest first."""
        self.amounts[-1] += amount
        for place in range(len(self.amounts) - 1, -1, -1):
            if self.amounts[place] >= 0:
                return
            if place:
                self.amounts[place - 1] += self.amounts[place]
            self.amounts[place] = 0.0


class BudgetState(msgspec.Struct):
    """All that a budget knows."""

    soft: dict[str, Spent] = {}
    hard: dict[str, Spent] = {}


class Budget:
    """What one gate may spend; all limits hold at once, and a reservation takes all or nothing."""

    def __init__(self, limits: Mapping[str, Limit], hard_caps: Mapping[str, Limit] = {}) -> None:
        self._soft, self._hard = dict(limits), dict(hard_caps)
        self.state = BudgetState(
            {name: Spent() for name in self._soft}, {name: Spent() for name in self._hard}
        )

    @classmethod
    def from_state(
        cls, state: BudgetState, limits: Mapping[str, Limit], hard_caps: Mapping[str, Limit] = {}
    ) -> Self:
        """Go on where the one left off that this state was taken from; limits may have changed."""
        budget = cls(limits, hard_caps)
        kept = msgspec.convert(msgspec.to_builtins(state), BudgetState)
        budget.state.soft.update((k, v) for k, v in kept.soft.items() if k in limits)
        budget.state.hard.update((k, v) for k, v in kept.hard.items() if k in hard_caps)
        return budget

    def remembered(self) -> BudgetState:
        """All that is known; a copy."""
        return msgspec.convert(msgspec.to_builtins(self.state), BudgetState)

    def reserve(self, now: float, cost: Cost) -> float:
        """When a request of this cost may go. If that is now, the cost is taken."""
        opens_at = self.opens_at(now, cost)
        if opens_at <= now:
            self.spend(now, cost)
        return opens_at

    def opens_at(self, now: float, cost: Cost) -> float:
        """When it may go; nothing is taken."""
        soft = (self._soft_at(now, name, _sane(cost.get(name, 0.0))) for name in self._soft)
        hard = (self._hard_at(now, name, _sane(cost.get(name, 0.0))) for name in self._hard)
        return max(now, *soft, *hard)

    def spend(self, now: float, cost: Cost) -> None:
        """Take a cost, whether or not there is room for it."""
        for limits, spent, parts in self._kinds():
            for name, limit in limits.items():
                spent[name].turn(math.floor(now * parts / limit.seconds), parts + (parts > 1))
                spent[name].add(_sane(cost.get(name, 0.0)))

    def settle(self, now: float, estimated: Cost, actual: Cost) -> None:
        """The actual cost is known: replace the estimate by it."""
        for limits, spent, parts in self._kinds():
            for name, limit in limits.items():
                if name in actual:
                    spent[name].turn(math.floor(now * parts / limit.seconds), parts + (parts > 1))
                    spent[name].add(_sane(actual[name]) - _sane(estimated.get(name, 0.0)))

    def exhausted(self, now: float) -> tuple[str, float] | None:
        """The hard cap that is spent, and when its window turns; None if there is none."""
        waits = {name: self._hard_at(now, name, 0.0) for name in self._hard}
        closed = {name: at for name, at in waits.items() if at > now}
        return max(closed.items(), key=lambda item: item[1]) if closed else None

    def _kinds(self) -> list[tuple[dict[str, Limit], dict[str, Spent], int]]:
        return [(self._soft, self.state.soft, PARTS), (self._hard, self.state.hard, 1)]

    def _soft_at(self, now: float, name: str, cost: float) -> float:
        limit, spent = self._soft[name], self.state.soft[name]
        part = math.floor(now * PARTS / limit.seconds)
        spent.turn(part, PARTS + 1)
        room = limit.count - spent.total
        if cost <= 0 or room >= min(cost, limit.count):
            return now
        for place, amount in enumerate(spent.amounts):
            room += amount
            if room >= min(cost, limit.count):
                age = len(spent.amounts) - 1 - place
                free_in = spent.part - age + PARTS + 1
                return max(now, free_in * limit.seconds / PARTS)
        return now

    def _hard_at(self, now: float, name: str, cost: float) -> float:
        limit, spent = self._hard[name], self.state.hard[name]
        window = math.floor(now / limit.seconds)
        spent.turn(window, 1)
        used = spent.total
        if used < limit.count and (used + cost <= limit.count or not used):
            return now
        return (window + 1) * limit.seconds


def _sane(amount: float) -> float:
    return amount if 0 < amount < math.inf else 0.0
