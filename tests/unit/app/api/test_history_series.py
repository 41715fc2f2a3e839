"""A job's history keeps its beginning and its end in a room that does not grow."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from headgate.app.api.job_readings import MOST_GATES, JobPoint, Series, points_of
from headgate.core.gates.view import GateView
from headgate.core.job import Counts


@given(st.integers(1, 5_000))
def test_any_number_of_readings_fits_with_the_first_and_the_last(many: int):
    series = Series()
    for at in range(many):
        series.add(JobPoint(at, Counts(done=at)))
    kept = [reading.at_us for reading in series.readings]
    assert len(kept) <= Series.KEPT
    assert (kept[0], kept[-1]) == (0, many - 1)
    assert kept == sorted(set(kept))
    steps = {later - earlier for earlier, later in pairwise(kept[:-1])}
    assert len(steps) <= 1  # evenly apart, but for the last


def test_a_history_may_be_empty():
    assert Series().readings == []


def test_the_gates_that_answered_most_are_kept():
    views = [GateView(key=f"host:{n}", kind="host", name=str(n), replies=n) for n in range(9)]
    assert [point.name for point in points_of(views)] == ["8", "7", "6", "5"]
    assert len(points_of(views)) == MOST_GATES
    assert points_of(views[:1]) == []
