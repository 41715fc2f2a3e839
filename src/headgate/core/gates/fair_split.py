"""The processes that share a gate, and the part of it that each may use."""

import math
from collections import Counter
from collections.abc import Mapping
from typing import TypedDict

import msgspec

from headgate.core.gates.host_down import HostDown, moments

Down = Mapping[str, HostDown]
"""Hosts that do not answer, with the reason."""

ALIVE_S = 3.0
"""Seconds after which a process without an exchange loses its part."""


class Member(msgspec.Struct, frozen=True):
    """A process at a gate, as of its last exchange."""

    seen: float
    need: float
    """Requests a second that it could use; -1 means infinite, which JSON cannot write."""
    in_flight: int = 0
    mean_in_flight: float = msgspec.field(default=0.0, name="flying")
    """Mean number of its requests in flight over about the last second. Stored as `flying`."""
    slots: int = 0
    """Requests that it may have in flight, where that is limited."""
    waiting: bool = False
    """Requests wait at the gate in this process."""
    joined: float = 0.0
    had: float = 0.0
    """Send slots and permits it has had; a new member starts with as many as the others."""
    drawn: Mapping[str, float] = {}
    """Amounts drawn from a budget and not spent yet."""
    broken: Mapping[str, float] = {}
    """Hosts that do not answer it, each with the time of the next trial.

    Processes of earlier versions know only this field; `down` says the same and more.
    """
    down: Down = {}
    """Hosts that do not answer it, with the reason; earlier versions do not write this field."""

    @property
    def wants(self) -> float:
        return math.inf if self.need < 0 else self.need

    @property
    def hosts_down(self) -> dict[str, HostDown]:
        """Hosts that do not answer it, from the fields of this version and of earlier ones."""
        return {host: HostDown(until) for host, until in self.broken.items()} | dict(self.down)


class DownFields(TypedDict):
    """The fields for hosts that do not answer, of this version and of earlier ones."""

    broken: Mapping[str, float]
    down: Down


def as_fields(down: Down) -> DownFields:
    return {"broken": moments(down), "down": dict(down)}


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
    """The amounts of a budget that the other members may still give back."""
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
