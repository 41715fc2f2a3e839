"""Ratios are paired, and a verdict says what was reached."""

import pytest

from benchmarks.harness import Contender, Figure, judge_one, run_rounds
from benchmarks.measurement import Round, UnavailableError
from benchmarks.ratios import ratio

OURS = Contender("ours", lambda bench: {"rate": 30.0})
THEIRS = Contender("theirs", lambda bench: {"rate": 10.0})


def figure(**changes):
    values = {
        "name": "drain",
        "title": "drain rate",
        "contenders": (OURS, THEIRS),
        "value": ratio(OURS, THEIRS, "rate"),
        "must": 2,
        "aim": 4,
    }
    return Figure(**{**values, **changes})


def paired(ours, theirs):
    return Round(values={"ours": {"rate": ours}, "theirs": {"rate": theirs}})


def test_the_figure_is_the_median_of_the_ratios_and_not_the_ratio_of_the_medians():
    rounds = [paired(10, 1), paired(100, 50), paired(30, 10)]
    spread = judge_one(figure(), rounds).spread
    assert (spread.low, spread.median, spread.high) == (2, 3, 10)


def test_a_round_in_which_one_side_did_not_run_does_not_count():
    half = Round(values={"ours": {"rate": 99.0}}, missing={"theirs": "absent"})
    outcome = judge_one(figure(), [half, paired(30, 10)])
    assert outcome.samples == (3,)
    assert outcome.reason == "theirs: absent"


@pytest.mark.parametrize(
    ("ours", "at_most", "verdict"),
    [
        (50, False, "aim reached"),
        (30, False, "reached"),
        (10, False, "missed"),
        (50, True, "missed"),
        (30, True, "reached"),
        (10, True, "aim reached"),
    ],
)
def test_the_verdict_compares_with_the_bounds(ours, at_most, verdict):
    bounds = {"must": 4, "aim": 2} if at_most else {}
    assert judge_one(figure(at_most=at_most, **bounds), [paired(ours, 10)]).verdict == verdict


def test_without_a_complete_round_the_figure_is_not_measured():
    assert judge_one(figure(), [Round(missing={"ours": "absent"})]).verdict == "not measured"


def test_each_contender_runs_once_a_round_and_the_first_one_changes():
    order = []

    def contender(name):
        return Contender(name, lambda bench: order.append(name) or {"rate": 1.0})

    a, b = contender("a"), contender("b")
    figures = [figure(contenders=(a, b)), figure(contenders=(b, a))]
    run_rounds(None, figures, 2, lambda text: None)
    assert order == ["a", "b", "b", "a"]


def test_what_a_machine_lacks_is_told_and_stops_nothing():
    def absent(bench):
        raise UnavailableError("not installed")

    lonely = figure(contenders=(Contender("theirs", absent), OURS))
    [only] = run_rounds(None, [lonely], 1, lambda text: None)
    assert only.missing == {"theirs": "not installed"}
    assert only.values == {"ours": {"rate": 30.0}}
