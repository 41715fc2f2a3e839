"""Who may use what of a limit that several share."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.gates.fair_split import ALIVE_S, alive, part_of, quota_of, slots_of
from headgate.core.gates.state import Member

names = st.sampled_from("abcdef")
needs = st.one_of(st.just(-1.0), st.floats(0.0, 100.0))
parties = st.dictionaries(names, st.builds(Member, st.just(0.0), needs), min_size=1)


def member(need: float = -1.0, **fields: object) -> Member:
    return Member(0.0, need, **fields)  # type: ignore[arg-type]


@given(parties, st.floats(0.1, 1_000.0))
def test_parts_never_exceed_the_whole(members: dict[str, Member], rate: float):
    parts = {name: part_of(members, name, rate) for name in members}
    assert sum(parts.values()) <= rate * (1 + 1e-9)
    for name, part in parts.items():
        assert part <= members[name].wants + 1e-9


@given(st.integers(1, 8), st.floats(0.1, 1_000.0))
def test_a_process_that_wants_everything_gets_an_equal_part(count: int, rate: float):
    members = {str(number): member() for number in range(count)}
    parts = {part_of(members, name, rate) for name in members}
    assert max(parts) == pytest.approx(min(parts))
    assert sum(part_of(members, name, rate) for name in members) == pytest.approx(rate)


def test_the_others_share_what_one_process_does_not_need():
    members = {"idle": member(1.0), "a": member(), "b": member()}
    assert part_of(members, "idle", 10.0) == 1.0
    assert part_of(members, "a", 10.0) == part_of(members, "b", 10.0) == 4.5


def test_a_need_without_end_is_written_as_a_number():
    assert member(-1.0).wants == math.inf
    assert member(3.0).wants == 3.0


def test_a_silent_process_loses_its_part():
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
        mean_in_flight = min(wish, before.slots)
        members[name] = member(in_flight=mean_in_flight, slots=before.slots, waiting=waiting)
        slots = slots_of(members, name, cap)
        members[name] = member(in_flight=mean_in_flight, slots=slots, waiting=waiting)
        assert mean_in_flight <= slots
        assert sum(each.slots for each in members.values()) <= cap


def test_with_fewer_places_than_processes_they_go_round():
    members = {name: member(waiting=True) for name in "abc"}
    served: set[str] = set()
    for _ in range(12):
        for name in "abc":
            mean_in_flight = 0  # what it had in flight has ended by its next exchange
            before = members[name]
            members[name] = member(in_flight=mean_in_flight, slots=before.slots, waiting=True)
            slots = slots_of(members, name, 1)
            members[name] = member(in_flight=min(slots, 1), slots=slots, waiting=True)
            served |= {name} if slots else set()
    assert served == {"a", "b", "c"}


def test_a_single_process_has_all_places_until_others_appear():
    assert slots_of({"a": member()}, "a", 5) == 5
    members = {"a": member(slots=5), "b": member(waiting=True)}
    assert slots_of(members, "b", 5) == 0


def test_a_process_that_refills_every_place_leaves_others_their_part():
    members = {"a": member(in_flight=64, slots=64, waiting=True), "b": member(waiting=True)}
    for _ in range(3):
        for name in "ab":
            before = members[name]
            # By its next exchange all that it had in flight has ended, and as many have begun.
            mean_in_flight = quota_of(members, name, 64)
            members[name] = member(in_flight=mean_in_flight, slots=before.slots, waiting=True)
            slots = slots_of(members, name, 64)
            members[name] = member(in_flight=mean_in_flight, slots=slots, waiting=True)
    assert [members[name].slots for name in "ab"] == [32, 32]


def test_a_process_keeps_places_that_no_other_waits_for():
    members = {"a": member(in_flight=60, slots=60, waiting=True), "b": member(slots=4)}
    assert quota_of(members, "a", 64) == 60


@given(
    st.integers(1, 12),
    st.lists(st.tuples(names, st.booleans(), st.integers(0, 20)), max_size=60),
)
def test_a_member_keeps_at_least_one_of_its_slots(cap: int, steps: list[tuple[str, bool, int]]):
    members: dict[str, Member] = {}
    for name, waiting, slots in steps:
        members[name] = member(slots=slots, waiting=waiting)
        assert min(slots, 1) <= quota_of(members, name, cap) <= slots
