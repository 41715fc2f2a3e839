"""What all processes know of one gate, as it stands in the ledger."""

import math
from collections.abc import Collection, Mapping
from typing import ClassVar

import msgspec

from headgate.core.gates.budget import BudgetState
from headgate.core.gates.fair_split import Member
from headgate.core.pacing.state import PaceState


class Override(msgspec.Struct, frozen=True):
    """What an operator has said."""

    rate: float | None = None
    paused: bool = False
    until: float | None = None
    """When that ends; None: when the operator says so."""

    @property
    def end(self) -> float:
        """The same moment; infinite if nobody knows."""
        return math.inf if self.until is None else self.until

    def holds(self, now: float) -> bool:
        """Whether it still counts."""
        return self.until is None or now < self.until


class GateState(msgspec.Struct, frozen=True):
    """All of it."""

    pace: PaceState
    members: Mapping[str, Member] = {}
    override: Override | None = None
    budget: BudgetState | None = None
    lines: tuple[float, ...] = ()
    """Time lines of moments to send at: the first of each that is nobody's."""
    answered: tuple[str, ...] = ()
    """Hosts behind the gate that have ever answered, those noted last at the end."""

    MOST_ANSWERED: ClassVar[int] = 100
    """How many of them are kept; a gate for any host would fill the ledger."""

    def with_answered(self, hosts: Collection[str]) -> "GateState":
        """The same with these hosts noted too."""
        news = sorted(set(hosts) - set(self.answered))
        if not news:
            return self
        kept = (*self.answered, *news)[-self.MOST_ANSWERED :]
        return msgspec.structs.replace(self, answered=kept)
