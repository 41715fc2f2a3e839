"""Who shares a gate, and what each of them may use of it."""

import math
from collections import Counter
from collections.abc import Mapping
from typing import TypedDict

import msgspec

from headgate.core.gates.host_down import HostDown, moments

Down = Mapping[str, HostDown]
"""Hosts that do not answer, and why."""

ALIVE_S = 3.0
"""A process that has not been heard of for so long has lost its part."""


class Member(msgspec.Struct, frozen=True):
    """One process at one gate, as it was at its last exchange."""

    seen: float
    need: float
    """Requests a second that it could use; infinite is written as -1 (JSON has no other word)."""
    in_flight: int = 0
    mean_in_flight: float = 0.0
    """How many it had in flight on average, of late."""
    slots: int = 0
    """How many it may have in flight, where that is limited."""
    waiting: bool = False
    """Somebody stands in line there."""
    joined: float = 0.0
    had: float = 0.0
    """How many moments and permits it has had; a newcomer starts with as many as the others."""
    drawn: Mapping[str, float] = {}
    """What it has drawn of a budget and not spent yet."""
    broken: Mapping[str, float] = {}
    """Hosts that do not answer it, each with the moment that it asks again.

    Processes of earlier versions know only this field; `down` says the same and more.
    """
    down: Down = {}
    """Hosts that do not answer it, and why; earlier versions do not write it."""

    @property
    def wants(self) -> float:
        """What it could use."""
        return math.inf if self.need < 0 else self.need

    @property
    def hosts_down(self) -> dict[str, HostDown]:
        """Hosts that do not answer it, whichever version wrote that down."""
        return {host: HostDown(until) for host, until in self.broken.items()} | dict(self.down)


class DownFields(TypedDict):
    """What a member says of hosts that do not answer, for this version and for earlier ones."""

    broken: Mapping[str, float]
    down: Down


def as_fields(down: Down) -> DownFields:
    """The fields of a member that tell of these hosts."""
    return {"broken": moments(down), "down": dict(down)}


def alive(members: Mapping[str, Member], now: float) -> dict[str, Member]:
    """Those who were heard of lately."""
    return {name: each for name, each in members.items() if now - each.seen < ALIVE_S}


def part_of(members: Mapping[str, Member], name: str, rate: float) -> float:
    """What one of them may use of a rate: as much as it needs, if that leaves enough for others.

    Who needs less than an equal part gets what it needs; the rest is shared by the others.
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
    """Whether all others have been there since one joined: until then they do not reckon with it.

    Who was alone goes without bookings, and at the whole rate.
    """
    joined = members[name].joined
    return all(each.seen >= joined for other, each in members.items() if other != name)


def lag_of(members: Mapping[str, Member], name: str) -> float:
    """How many moments one of those who could use more has had less than the others of them."""
    counts = [
        each.had for other, each in members.items() if other != name and math.isinf(each.wants)
    ]
    mine = members[name]
    if not counts or not math.isinf(mine.wants):
        return 0.0
    return math.fsum(counts) / len(counts) - mine.had


def spare_of(members: Mapping[str, Member], name: str) -> Mapping[str, float]:
    """What the others of one may still give back of a budget."""
    spare: Counter[str] = Counter()
    for other, each in members.items():
        if other != name:
            spare.update(each.drawn)
    return spare


def slots_of(members: Mapping[str, Member], name: str, cap: int) -> int:
    """How many one of them may have in flight, so that all together never exceed the cap.

    What the others hold is theirs until they give it back. Beyond an equal part, places that are
    in use are kept only until their requests end, so that those without any get their turn.
    """
    mine = members[name]
    free = cap - sum(each.slots for other, each in members.items() if other != name)
    equal = _equal_part(members, cap)
    without = any(
        each.waiting and not each.slots for other, each in members.items() if other != name
    )
    if len(members) == 1:
        return cap  # whoever comes finds them all taken until we know of it
    if not (mine.waiting or mine.in_flight):
        return 0
    if mine.slots > equal and without:
        return min(max(equal, mine.in_flight), free)
    return max(min(max(equal, 1), free), min(mine.in_flight, free), 0)


def quota_of(members: Mapping[str, Member], name: str, cap: int | None) -> int:
    """With how many in flight one of them begins no other.

    Who has more than an equal part lets requests end while others wait for theirs: otherwise each
    place that becomes free would be taken again at once, and never be given back.
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
