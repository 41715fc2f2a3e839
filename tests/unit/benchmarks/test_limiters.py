"""What a server's log says about a run."""

import pytest

from benchmarks.limiters.__main__ import main
from benchmarks.limiters.limiter import LIMITERS, Truth, connections, requests, window
from benchmarks.limiters.score import Score, judge
from tests.kit.access_log import Logged

BEGAN = 1_800_000_000.0


def logged(arrived_s: float, status: int = 200, took_s: float = 0.0) -> Logged:
    return Logged(BEGAN + arrived_s + took_s, took_s, status, "/1k")


def test_a_run_begins_with_its_first_request_and_counts_no_second_too_many():
    log = [logged(0.5), logged(0.0), logged(1.2, 429), logged(1.9, 503), logged(2.0), logged(9.0)]
    score = judge(requests(1), "headgate", 1, 2.0, log)
    assert score.taken_per_s == (2, 0)
    assert score.refused_per_s == (0, 2)
    assert score.goodput == 1.0
    assert score.refused_share == 0.5


def test_other_errors_are_neither_taken_nor_refused():
    score = judge(requests(1), "headgate", 1, 2.0, [logged(0), logged(1, 500), logged(1, 404)])
    assert (score.taken, score.refused, score.failed) == (1, 0, 2)


def test_a_burst_counts_once():
    assert requests(20, burst=20).allowed(120, ()) == 120 * 20 + 20


def test_a_window_allows_as_many_as_its_mean_rate_and_never_less_than_one_window():
    assert window(200, 10).allowed(120, ()) == 2_400
    assert window(200, 10).allowed(2, ()) == 200


def test_places_allow_what_the_time_taken_leaves_room_for():
    taken = [logged(0, took_s=0.2), logged(0, took_s=0.3)]
    assert connections(8, 0.2).allowed(100, taken) == pytest.approx(8 * 100 / 0.25)


@pytest.mark.parametrize(
    ("taken", "refused", "is_clean"),
    [(90, 10, True), (90, 11, False), (89, 0, False), (1_980, 20, True), (1_980, 21, False)],
)
def test_clean_is_enough_taken_and_little_refused(taken, refused, is_clean):
    score = Score("limiter", "headgate", 1, 1.0, max(taken, 100), (taken,), (refused,), 0)
    assert score.clean is is_clean


def test_who_is_told_gets_an_equal_part():
    assert Truth(per_s=50).part(4) == {"rate": 12.5}
    assert Truth(at_once=8).part(4) == {"slots": 2}


def test_names_are_unique_and_can_be_chosen(capsys):
    assert len({limiter.name for limiter in LIMITERS}) == len(LIMITERS)
    assert main(["--list", "--only", "HAProxy", "--only", "5/s 429, told"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert "nginx 5/s 429, told, 4 processes" in listed
    assert all(name.startswith("HAProxy") or "5/s 429, told" in name for name in listed)
