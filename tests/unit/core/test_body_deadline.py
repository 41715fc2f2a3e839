"""A body must keep up a least pace once its grace is over."""

from headgate.core.body_limits import LEAST_BYTES_PER_S, body_deadline_s


def test_nothing_must_be_there_before_the_grace_is_over():
    assert body_deadline_s(0, 20.0) == 20.0


def test_each_second_of_the_least_pace_gives_another_second():
    assert body_deadline_s(LEAST_BYTES_PER_S * 60, 20.0) == 80.0
