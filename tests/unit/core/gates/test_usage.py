"""How many are in flight on average."""

import pytest

from headgate.core.gates.usage import MeanInFlight


def test_ten_a_second_that_take_half_a_second_are_five():
    mean_in_flight = MeanInFlight()
    for second in range(10):
        mean_in_flight.turn(float(second))
        for _ in range(10):
            mean_in_flight.replied(0.5)
    assert mean_in_flight.at(10.0) == pytest.approx(5.0, rel=0.01)


def test_before_anything_is_known_there_are_none():
    mean_in_flight = MeanInFlight()
    mean_in_flight.replied(3.0)
    assert mean_in_flight.at(5.0) == 0.0
