"""The shared state of one gate, as the ledger stores it."""

import math
from collections.abc import Collection, Mapping
from typing import ClassVar

import msgspec

from headgate.core.gates.budget import BudgetState
from headgate.core.gates.fair_split import Member
from headgate.core.pacing.state import PaceState


class Override(msgspec.Struct, frozen=True):
    """A rate or a pause that an operator set."""

    rate: float | None = None
    paused: bool = False
    until: float | None = None
    """When the override ends; None: when the operator ends it."""

    @property
    def end(self) -> float:
        return math.inf if self.until is None else self.until

    def holds(self, now: float) -> bool:
        return self.until is None or now < self.until


class GateState(msgspec.Struct, frozen=True):
    pace: PaceState
    members: Mapping[str, Member] = {}
    override: Override | None = None
    budget: BudgetState | None = None
    lines: tuple[float, ...] = ()
    """For each line of send slots, the first unreserved slot."""
    answered: tuple[str, ...] = ()
    """Hosts behind the gate that have answered at least once, the newest last."""

    MOST_ANSWERED: ClassVar[int] = 100
    """Number of hosts kept in `answered`; a gate for any host would fill the ledger."""

    def with_answered(self, hosts: Collection[str]) -> "GateState":
        news = sorted(set(hosts) - set(self.answered))
        if not news:
            return self
        kept = (*self.answered, *news)[-self.MOST_ANSWERED :]
        return msgspec.structs.replace(self, answered=kept)
