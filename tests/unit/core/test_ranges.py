"""Ranges are cut into adjacent parts, and open ones reach farther at each step."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from headgate.core.ranges import (
    MOST_PARTS,
    KeyRange,
    parts_of,
    rest_above,
    rest_below,
    split,
)


@given(st.integers(-1000, 1000), st.integers(1, 10_000), st.integers(1, 50))
def test_parts_are_adjacent_and_together_the_whole(low, width, parts):
    found = split(low, low + width, parts)
    assert (found[0].low, found[-1].high) == (low, low + width)
    assert all(one.high == other.low for one, other in pairwise(found))
    assert len(found) <= parts
    assert all(isinstance(each.low, int) and each.low < each.high for each in found)


def test_floats_are_cut_to_their_exact_ends():
    assert split(0.0, 1.0, 2) == [KeyRange(0.0, 0.5), KeyRange(0.5, 1.0)]


@given(st.floats(0.1, 1e9), st.floats(0.1, 1e9))
def test_a_rest_is_worth_at_least_one_and_not_too_many_parts(width, page_width):
    assert 1 <= parts_of(width, page_width) <= MOST_PARTS


def test_a_page_of_equal_keys_says_nothing_about_density():
    assert parts_of(100, 0) == 1


@given(st.integers(0, 1000), st.integers(1, 1000), st.integers(1, 100), st.integers(1, 64))
def test_the_rest_of_a_range_is_the_whole_rest(last, room, width, reach):
    high = last + room
    for found in (rest_above(last, high, width, reach), rest_below(high, last, width, reach)):
        assert min(each.low for each in found) == last
        assert max(each.high for each in found) == high


def test_an_open_range_leaves_an_open_range():
    assert rest_above(10, None, 5, 8) == [KeyRange(10, 50), KeyRange(50, None)]
    assert rest_below(10, None, 5, 8) == [KeyRange(-30, 10), KeyRange(None, -30)]
    assert rest_above(10, 10, 5, 8) == rest_below(10, 10, 5, 8) == []
