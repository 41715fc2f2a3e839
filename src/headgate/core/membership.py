"""Who shares a gate, and what each of them may use of it."""

import math
from collections.abc import Mapping

import msgspec

ALIVE_S = 3.0
"""A process that has not been heard of for so long has lost its part."""


class Member(msgspec.Struct, frozen=True):
    """One process at one gate, as it was at its last exchange."""

    seen: float
    need: float
    """Requests a second that it could use; infinite is written as -1 (JSON has no other word)."""
    in_flight: int = 0
    slots: int = 0
    """How many it may have in flight, where that is limited."""
    waiting: bool = False
    """Somebody stands in line there."""
    part: float = 0.0
    """What it may use of the whole rate, from nothing to one, until its next exchange."""
    drawn: Mapping[str, float] = {}
    """What it has drawn of a budget and not spent yet."""
    broken: Mapping[str, float] = {}
    """Hosts that do not answer it, each with the moment that it asks again."""

    @property
    def wants(self) -> float:
        """What it could use."""
        return math.inf if self.need < 0 else self.need


def alive(members: Mapping[str, Member], now: float) -> dict[str, Member]:
    """Those who were heard of lately."""
    return {name: each for name, each in members.items() if now - each.seen < ALIVE_S}


def part_of(members: Mapping[str, Member], name: str, rate: float) -> float:
    """What one of them may use of a whole rate, from nothing to one.

    That is its fair part, as far as the others have left it: they keep theirs until their next
    exchange, so all together never use more than there is.
    """
    others = math.fsum(each.part for other, each in members.items() if other != name)
    return max(0.0, min(_fair_rate(members, name, rate) / rate, 1.0 - others))


def _fair_rate(members: Mapping[str, Member], name: str, rate: float) -> float:
    """As much of a rate as one needs, if that leaves enough for others.

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


def slots_of(members: Mapping[str, Member], name: str, cap: int) -> int:
    """How many one of them may have in flight, so that all together never exceed the cap.

    What the others hold is theirs until they give it back. Beyond an equal part, places that are
    in use are kept only until their requests end, so that those without any get their turn.
    """
    mine = members[name]
    free = cap - sum(each.slots for other, each in members.items() if other != name)
    asking = sum(each.waiting or each.in_flight > 0 for each in members.values())
    equal = cap // max(asking, 1)
    without = any(
        each.waiting and not each.slots for other, each in members.items() if other != name
    )
    if not (mine.waiting or mine.in_flight):
        return 0
    if mine.slots > equal and without:
        return min(max(equal, mine.in_flight), free)
    return max(min(max(equal, 1), free), min(mine.in_flight, free), 0)
