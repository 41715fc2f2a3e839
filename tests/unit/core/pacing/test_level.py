"""Where a level stands while it grows, holds, looks for more, and is taken up again."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.pacing.level import Level

NOW = 1_800_000_000.0


def at_age(level: Level, age_s: float) -> float:
    level.age_s = age_s
    return level.value


def test_unknown_it_doubles_as_long_as_that_is_cheap():
    level = Level(start=10.0, cheap=80.0)
    assert at_age(level, 0.0) == 10.0
    assert at_age(level, 3 * Level.DOUBLING_S) == pytest.approx(80.0)


def test_beyond_what_is_cheap_it_grows_straight_and_then_slower():
    level = Level(start=10.0, cheap=40.0)
    cheap_s, gain = 2 * Level.DOUBLING_S, Level.STRAIGHT * 40
    assert at_age(level, cheap_s + 1) == pytest.approx(40 + gain)
    cautious_s = cheap_s + (Level.CAUTION - 1) / Level.STRAIGHT
    assert at_age(level, cautious_s) == pytest.approx(120.0)
    assert at_age(level, cautious_s + 3) == pytest.approx(120.0 + 3 * Level.SLOWLY * gain)


def test_what_the_user_calls_a_start_is_cheap_four_times():
    assert at_age(Level(start=100.0), 2 * Level.DOUBLING_S) == pytest.approx(400.0)


def test_known_it_stays_just_below_and_then_looks_for_more():
    level = Level()
    level.set(50.0, hold_s=8.0, slow_s=2.0, fast_s=2.5, excess=0.01)
    assert not level.probing
    assert at_age(level, 7.9) == pytest.approx(0.985 * 50)
    assert at_age(level, 8.0) == pytest.approx(50.5)
    assert level.probing
    assert at_age(level, 10.0) == pytest.approx(51.0)


def test_it_looks_for_no_more_than_it_may():
    level = Level()
    level.set(50.0, 8.0, 2.0, 2.5)
    level.most = 60.0
    assert at_age(level, 1_000.0) == 60.0


@given(
    start=st.floats(0.01, 1e4),
    cheap=st.floats(1.0, 1e5),
    ages=st.tuples(st.floats(0, 1e4), st.floats(0, 1e4)),
)
def test_unknown_it_never_shrinks_with_age(start: float, cheap: float, ages: tuple[float, float]):
    level = Level(start=start, cheap=cheap)
    younger, older = sorted(ages)
    assert at_age(level, younger) <= at_age(level, older) * (1 + 1e-9)


@given(
    known=st.floats(0.005, 1e4),
    cheap=st.floats(40.0, 1e4),
    ages=st.tuples(st.floats(8, 1e3), st.floats(8, 1e3)),
)
def test_looking_for_more_never_shrinks_nor_jumps(
    known: float, cheap: float, ages: tuple[float, float]
):
    level = Level(cheap=cheap)
    level.set(known, 8.0, 2.0, 2.5)
    younger, older = sorted(ages)
    before, after = at_age(level, younger), at_age(level, older)
    assert known <= before <= after * (1 + 1e-9)
    steepest = max(Level.SLOPE * cheap, Level.BEND * known)
    assert after - before <= (older - younger) * steepest + 1e-6 * after


def test_a_remembered_level_is_approached():
    level = Level()
    level.set(100.0, 8.0, 2.0, 2.5)
    level.resumed_at = NOW
    assert level.resuming(NOW)
    assert level.speed(NOW) == pytest.approx(Level.RAMP_FROM * level.value)
    half = (1 + Level.RAMP_FROM) / 2
    assert level.speed(NOW + Level.RAMP_S / 2) == pytest.approx(half * level.value)
    assert level.speed(NOW + Level.RAMP_S) == level.value
    assert not level.resuming(NOW + Level.RAMP_S)


def test_where_nothing_is_known_nothing_is_approached():
    level = Level(start=10.0, resumed_at=NOW)
    assert level.speed(NOW) == 10.0


def test_far_beyond_a_dear_level_it_looks_for_more_slowly():
    level = Level(known=200.0, cheap=40.0)
    assert at_age(level, 4.0) == pytest.approx(200 + 200 * 0.01 * 4)
    dear_s = 2.0 * math.log2((Level.NEAR - 1) / 0.01)
    assert at_age(level, dear_s) == pytest.approx(Level.NEAR * 200)
    beyond = 0.2 * 200 - (Level.NEAR - 1) * 200
    assert at_age(level, 2.0 * math.log2(20)) == pytest.approx(
        Level.NEAR * 200 + Level.SLOWLY * beyond
    )
