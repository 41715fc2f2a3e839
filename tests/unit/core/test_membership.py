"""Who may use what of a limit that several share."""

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.membership import ALIVE_S, Member, alive, part_of, slots_of

names = st.sampled_from("abcdef")
needs = st.one_of(st.just(-1.0), st.floats(0.0, 100.0))


def member(need: float = -1.0, **fields: object) -> Member:
    return Member(0.0, need, **fields)  # type: ignore[arg-type]


@given(
    st.lists(st.tuples(names, needs), min_size=1, max_size=60),
    st.floats(0.1, 1_000.0),
)
def test_parts_never_exceed_the_whole(exchanges: list[tuple[str, float]], rate: float):
    members: dict[str, Member] = {}
    for name, need in exchanges:
        held = members[name].part if name in members else 0.0
        members[name] = member(need, part=held)
        members[name] = member(need, part=part_of(members, name, rate))
        assert sum(each.part for each in members.values()) <= 1 + 1e-9
        assert members[name].part * rate <= members[name].wants + 1e-9


def settled(members: dict[str, Member], rate: float) -> dict[str, float]:
    """What each may use after every one of them has had two exchanges."""
    for name in [*members, *members]:
        part = part_of(members, name, rate)
        members[name] = msgspec.structs.replace(members[name], part=part)
    return {name: each.part for name, each in members.items()}


@given(st.integers(1, 8), st.floats(0.1, 1_000.0))
def test_who_wants_all_gets_as_much_as_every_other(count: int, rate: float):
    parts = settled({str(number): member() for number in range(count)}, rate)
    assert list(parts.values()) == pytest.approx([1 / count] * count)


def test_what_one_does_not_need_the_others_share():
    parts = settled({"idle": member(1.0), "a": member(), "b": member()}, 10.0)
    assert parts == pytest.approx({"idle": 0.1, "a": 0.45, "b": 0.45})


def test_a_newcomer_takes_nothing_before_the_others_have_given_it_up():
    members = {"old": member(part=1.0), "new": member()}
    assert part_of(members, "new", 10.0) == 0.0
    assert settled(members, 10.0) == {"old": 0.5, "new": 0.5}


def test_a_need_without_end_is_written_as_a_number():
    assert member(-1.0).wants == math.inf
    assert member(3.0).wants == 3.0


def test_who_was_not_heard_of_has_lost_its_part():
    members = {"old": Member(0.0, -1.0), "new": Member(ALIVE_S, -1.0)}
    assert alive(members, ALIVE_S + 0.5).keys() == {"new"}


@given(
    st.integers(1, 12),
    st.lists(st.tuples(names, st.booleans(), st.integers(0, 20)), max_size=60),
)
def test_places_never_exceed_the_cap(cap: int, steps: list[tuple[str, bool, int]]):
    members: dict[str, Member] = {}
    for name, waiting, wish in steps:
        before = members.get(name, member())
        flying = min(wish, before.slots)
        members[name] = member(in_flight=flying, slots=before.slots, waiting=waiting)
        slots = slots_of(members, name, cap)
        members[name] = member(in_flight=flying, slots=slots, waiting=waiting)
        assert flying <= slots
        assert sum(each.slots for each in members.values()) <= cap


def test_with_fewer_places_than_processes_they_go_round():
    members = {name: member(waiting=True) for name in "abc"}
    served: set[str] = set()
    for _ in range(12):
        for name in "abc":
            flying = 0  # what it had in flight has ended by its next exchange
            before = members[name]
            members[name] = member(in_flight=flying, slots=before.slots, waiting=True)
            slots = slots_of(members, name, 1)
            members[name] = member(in_flight=min(slots, 1), slots=slots, waiting=True)
            served |= {name} if slots else set()
    assert served == {"a", "b", "c"}
