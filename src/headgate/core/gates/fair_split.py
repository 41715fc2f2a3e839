"""The processes that share a gate, and the part of it that each may use."""

import math
from collections import Counter
from collections.abc import Mapping

from headgate.core.gates.state import GateState, Member, Override

ALIVE_S = 3.0
"""Seconds after which a process without an exchange loses its part."""


class ProcessShare:
    STALE_S = 2.5
    """Seconds after which a part is void: the process was frozen, or sent nothing for long."""
    LOST_PART = 0.5
    """Share of the last known part that is used while the ledger does not answer."""

    def __init__(self, me: str) -> None:
        self.me = me
        self.members: dict[str, Member] = {}
        self.is_alone = True
        """No other process shares the gate."""
        self.override: Override | None = None
        self.part = 1.0
        """Share of the whole rate."""
        self.quota = 0
        """Number in flight at which we send no further request, where that is limited."""
        self.until = -math.inf
        """When our part is void."""
        self.is_lost = False
        """The ledger does not answer."""

    @property
    def mine(self) -> Member | None:
        return self.members.get(self.me)

    def take_over(self, state: GateState, own: Member, now: float) -> None:
        """`own` counts if the state does not know this process."""
        self.members = dict(state.members)
        self.members.setdefault(self.me, own)
        self.is_alone = len(self.members) < 2
        self.override = state.override
        self.is_lost = False
        self.until = now + self.STALE_S

    def set_limits(self, rate: float, cap: int | None) -> None:
        """Take our part of a rate, and of a cap on requests in flight if there is one."""
        self.quota = quota_of(self.members, self.me, cap)
        self.part = part_of(self.members, self.me, rate) / rate

    def lose(self, now: float) -> None:
        """The ledger does not answer: continue with a smaller part."""
        if not self.is_lost:
            self.part *= self.LOST_PART
        self.is_lost = True
        self.until = now + self.STALE_S
        self.quota = self.members.setdefault(self.me, Member(now, -1.0, slots=1)).slots

    def in_flight(self, mine: int) -> int:
        """Requests of all processes in flight, `mine` of them ours."""
        if self.is_alone:
            return mine
        return mine + sum(each.in_flight for name, each in self.members.items() if name != self.me)

    def mean_in_flight(self, mine: float) -> float:
        return mine + sum(
            each.mean_in_flight for name, each in self.members.items() if name != self.me
        )


def alive(members: Mapping[str, Member], now: float) -> dict[str, Member]:
    """Members with an exchange in the last `ALIVE_S` seconds."""
    return {name: each for name, each in members.items() if now - each.seen < ALIVE_S}


def part_of(members: Mapping[str, Member], name: str, rate: float) -> float:
    """The part of a rate that one member may use.

    A member that needs less than an equal part gets what it needs; the others share the rest.
    """
    left, others = rate, len(members)
    for each in sorted(members, key=lambda member: members[member].wants):
        part = left / others
        needed = members[each].wants
        if needed >= part:
            return part if members[name].wants >= part else needed
        if each == name:
            return needed
        left -= needed
        others -= 1
    return left


def is_known(members: Mapping[str, Member], name: str) -> bool:
    """Whether all others have exchanged since this member joined and so count it.

    Until then, a member that was alone sends without bookings and at the whole rate.
    """
    joined = members[name].joined
    return all(each.seen >= joined for other, each in members.items() if other != name)


def lag_of(members: Mapping[str, Member], name: str) -> float:
    """Send slots this member is behind the mean of the other hungry members."""
    counts = [
        each.had for other, each in members.items() if other != name and math.isinf(each.wants)
    ]
    mine = members[name]
    if not counts or not math.isinf(mine.wants):
        return 0.0
    return math.fsum(counts) / len(counts) - mine.had


def spare_of(members: Mapping[str, Member], name: str) -> Mapping[str, float]:
    spare: Counter[str] = Counter()
    for other, each in members.items():
        if other != name:
            spare.update(each.drawn)
    return spare


def slots_of(members: Mapping[str, Member], name: str, cap: int) -> int:
    """Requests that one member may have in flight, so that all together never exceed the cap.

    A slot belongs to its member until the member gives it back. Beyond an equal part, slots in use
    are kept only until their requests end, so that members without a slot get one.
    """
    mine = members[name]
    free = cap - sum(each.slots for other, each in members.items() if other != name)
    equal = _equal_part(members, cap)
    without = any(
        each.waiting and not each.slots for other, each in members.items() if other != name
    )
    if len(members) == 1:
        return cap  # a newcomer finds all slots taken until we know of it
    if not (mine.waiting or mine.in_flight):
        return 0
    if mine.slots > equal and without:
        return min(max(equal, mine.in_flight), free)
    return max(min(max(equal, 1), free), min(mine.in_flight, free), 0)


def quota_of(members: Mapping[str, Member], name: str, cap: int | None) -> int:
    """Number in flight at which a member sends no further request.

    A member above an equal part lets requests end while others wait for theirs: otherwise it would
    take each free slot again at once and never give one back.
    """
    slots = members[name].slots
    if cap is None:
        return slots
    equal = max(_equal_part(members, cap), 1)
    if slots > equal and any(each.waiting and each.slots < equal for each in members.values()):
        return equal
    return slots


def _equal_part(members: Mapping[str, Member], cap: int) -> int:
    asking = sum(each.waiting or each.in_flight > 0 for each in members.values())
    return cap // max(asking, 1)
