"""A small body may unpack to a little more, not to a flood."""

import pytest

from headgate.core.body_limits import DecompressionLimit, MinimumPace, PaceMeter

LIMIT = DecompressionLimit(ratio=10, harmless_bytes=1_000, max_bytes=50_000)


@pytest.mark.parametrize(
    ("encoded", "decoded", "exceeded"),
    [
        (0, 0, False),
        (1, 1_000, False),
        (1, 1_001, True),
        (200, 2_000, False),
        (200, 2_001, True),
        (49_000, 50_000, False),
        (50_001, 50_001, True),
    ],
)
def test_past_the_harmless_the_ratio_decides(encoded, decoded, exceeded):
    assert LIMIT.exceeded(encoded, decoded) is exceeded


MINIMUM = MinimumPace(bytes_per_s=1_000, over_s=30)


def measured(pieces: list[tuple[float, int]]) -> PaceMeter:
    meter = PaceMeter(MINIMUM)
    for waited_s, size in pieces:
        meter.count(waited_s, size)
    return meter


def test_a_slow_body_is_not_refused_before_the_span_has_passed():
    assert not measured([(1.0, 1)] * 29).too_slow
    assert measured([(1.0, 1)] * 30).too_slow


@pytest.mark.parametrize(("size", "slow"), [(999, True), (1_001, False)])
def test_the_average_decides(size: int, slow: bool):
    assert measured([(1.0, size)] * 40).too_slow is slow


def test_a_pause_is_forgiven_if_enough_came_around_it():
    assert not measured([(1.0, 30_000), *[(1.0, 0)] * 29]).too_slow


def test_what_came_long_ago_does_not_count():
    assert measured([(1.0, 10_000_000), *[(1.0, 1)] * 31]).too_slow


def test_only_waiting_counts():
    assert not measured([(0.0, 1)] * 100_000).too_slow


def test_a_fast_sender_costs_little_memory():
    meter = measured([(0.0001, 10)] * 100_000)
    assert len(meter._pieces) <= PaceMeter.STEPS + 1


def test_a_large_piece_may_take_as_long_as_the_pace_allows():
    assert MINIMUM.longest_wait_s(250_000) == 250
    assert MINIMUM.longest_wait_s(1) == 30
    assert MinimumPace(0, 30).longest_wait_s(1) == float("inf")


def test_a_short_span_is_measured_too():
    meter = PaceMeter(MinimumPace(bytes_per_s=1_000, over_s=0.1))
    for _ in range(20):
        meter.count(0.02, 1)
    assert meter.too_slow
    for _ in range(20):
        meter.count(0.02, 100)
    assert not meter.too_slow
