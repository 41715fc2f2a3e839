"""Simulated limits accept what their laws allow, for any arrival of requests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.pacing.costs import Costly
from benchmarks.pacing.limits import Both, FixedWindow, InFlight, SlidingWindow, TokenBucket
from benchmarks.pacing.tenant import Shared

GAPS = st.lists(st.floats(0, 3), min_size=1, max_size=120)


def arrivals(gaps):
    now = 0.0
    for gap in gaps:
        now += gap
        yield now


def accepted(limit, gaps):
    return [now for now in arrivals(gaps) if limit.decide(now).accepted]


def hammered(limit, seconds):
    """Accepted of a request every ten milliseconds."""
    return sum(limit.decide(tick / 100).accepted for tick in range(100 * seconds))


@given(GAPS)
def test_a_bucket_lets_through_its_burst_and_its_rate(gaps):
    passed = accepted(TokenBucket(4, 3), gaps)
    for first in range(len(passed)):
        for last in range(first, len(passed)):
            most = 3 + 4 * (passed[last] - passed[first])
            assert last - first + 1 <= most + 1e-6


@given(GAPS)
def test_a_sliding_window_holds_at_any_moment(gaps):
    passed = accepted(SlidingWindow(5, 2), gaps)
    for now in passed:
        assert sum(now - 2 < each <= now for each in passed) <= 5


@given(GAPS)
def test_a_fixed_window_restarts_its_count_each_time(gaps):
    passed = accepted(FixedWindow(5, 2, phase=0.5), gaps)
    for number in range(200):
        assert sum(2 * number - 1 <= each < 2 * number + 1 for each in passed) <= 5


@pytest.mark.parametrize(
    ("limit", "most"),
    [
        (TokenBucket(10, 10), 10 + 600),
        (FixedWindow(100, 60, phase=0), 100),
        (SlidingWindow(100, 60), 100),
        (Both(TokenBucket(10, 10), FixedWindow(100, 60, phase=0)), 100),
        (Both(TokenBucket(1, 1), FixedWindow(100, 60, phase=0)), 60),
        (Shared(SlidingWindow(90, 60), 1 / 3), 90),
        (Costly(TokenBucket(10, 10)), 305),
    ],
)
def test_a_minute_of_hammering_gets_the_limit(limit, most):
    assert hammered(limit, 60) == pytest.approx(most, abs=2)


def test_a_refusal_says_how_long_to_wait():
    limit = FixedWindow(1, 10, phase=0)
    assert limit.decide(3.0).reset_s == 7.0
    assert limit.decide(4.0).wait_s == 6.0
    assert limit.decide(4.0 + 6.0).accepted


def test_a_refusal_by_the_second_limit_uses_up_nothing_of_the_first():
    bucket = TokenBucket(1, 2)
    both = Both(bucket, FixedWindow(1, 60, phase=0))
    assert [both.decide(0.0).accepted for _ in range(3)] == [True, False, False]
    assert bucket.decide(0.0).accepted


def test_a_cap_counts_what_is_under_way():
    limit = InFlight(1, mean_latency_s=0.1)
    assert limit.decide(0.0).accepted
    limit.entered()
    assert not limit.decide(0.0).accepted
    limit.left()
    assert limit.decide(0.0).accepted


def test_a_limit_can_change():
    limit = TokenBucket(10, 1)
    limit.decide(0.0)
    limit.rescale(0.0, 0.25)
    assert limit.rate() == 2.5
    assert limit.decide(0.2).wait_s == pytest.approx(0.2)
