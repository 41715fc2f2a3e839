"""Counts of what was taken: exact while they are new, coarse when they are old, never double."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.pacing.throughput import Throughput, Tier

START = 1_800_000_000.0


def delivered(*moments: float) -> Throughput:
    made = Throughput()
    for at in moments:
        made.add(START + at)
    return made


def test_nothing_was_taken_at_first():
    assert Throughput().count(START, START + 60) == 0


def test_what_was_taken_in_a_time_is_counted():
    made = delivered(*(place / 10 + 0.05 for place in range(100)))
    assert made.count(START, START + 10) == pytest.approx(100)
    assert made.count(START + 2, START + 5) == pytest.approx(30)
    assert made.count(START - 60, START) == 0


def test_part_of_a_slot_counts_in_part():
    tier = Tier(1.0, 10)
    for _ in range(8):
        tier.add(START + 0.5)
    assert tier.count(START + 0.25, START + 1) == pytest.approx(6)
    assert tier.count(START, START + 0.25) == pytest.approx(2)


def test_an_hour_is_remembered_but_not_by_the_tenth_of_a_second():
    made = delivered(*range(3_600))
    assert made.count(START, START + 3_600) == pytest.approx(3_600, rel=0.01)
    assert sum(len(tier.counts) for tier in made.tiers) < 600


def test_what_comes_too_late_to_be_kept_is_dropped():
    tier = Tier(1.0, 5)
    for at in range(30):
        tier.add(START + at)
    tier.add(START)
    assert tier.count(START, START + 1) == 0


def test_a_long_pause_restarts_the_count():
    tier = Tier(1.0, 5)
    tier.add(START)
    tier.add(START + 1_000)
    assert tier.since == START + 1_000
    assert tier.count(START, START + 1_001) == 1


@given(st.lists(st.floats(0, 5.9), min_size=1, max_size=200), st.floats(0, 6))
def test_the_parts_of_a_time_add_up(moments: list[float], cut: float):
    made = delivered(*sorted(moments))
    whole = made.count(START - 60, START + 7)
    first, second = made.count(START - 60, START + cut), made.count(START + cut, START + 7)
    assert whole == pytest.approx(len(moments))
    assert first + second == pytest.approx(whole, abs=1e-6)
