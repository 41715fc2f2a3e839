"""What is called clean, good, recovered and held out."""

import math
from dataclasses import replace

import pytest

from benchmarks.pacing.figure import Bound, Figure
from benchmarks.pacing.frozen import pacer_files, seeds
from benchmarks.pacing.score import Score, first_good, summarise

CLEAN = Score(
    provider="any",
    contender="ours",
    seed=1,
    goodput=0.95,
    steady_goodput=0.95,
    refused=0.005,
    refusals=50,
    sent=10_000,
    bans=0,
    start_s=1.0,
    rise_s=None,
    latency_s=0.1,
)


@pytest.mark.parametrize(
    ("changes", "clean"),
    [
        ({}, True),
        ({"goodput": 0.89}, False),
        ({"bans": 1}, False),
        ({"refused": 0.02}, False),
        ({"refused": 0.02, "refusals": 10}, True),
        ({"refused": 0.02, "refusals": 11}, False),
    ],
)
def test_clean_forgives_a_handful_of_refusals_and_nothing_else(changes, clean):
    assert replace(CLEAN, **changes).clean is clean


def test_the_studys_law_forgives_nothing():
    assert not replace(CLEAN, refused=0.02, refusals=10).strictly_clean


def test_a_summary_leaves_a_tenth_out_at_the_tails():
    scores = [replace(CLEAN, goodput=n / 100, refused=n / 100) for n in range(1, 41)]
    summary = summarise(scores)
    assert (summary.goodput_worst, summary.goodput_low, summary.goodput) == (1, 5, 20.5)
    assert (summary.refused, summary.refused_high, summary.refused_worst) == (20.5, 36, 40)


def test_recovered_is_when_five_seconds_are_as_good_as_nine_tenths_of_the_best():
    best = [tick / 10 for tick in range(400)]
    late = [time for time in best if time >= 12]
    assert first_good(best, best, 0.0, 40.0) == 0.0
    assert first_good(late, best, 10.0, 40.0) == pytest.approx(1.5, abs=0.25)
    assert first_good([], best, 10.0, 40.0) == math.inf


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(0.05, "aim reached"), (0.2, "reached"), (0.4, "missed"), (None, "not measured")],
)
def test_the_verdict_of_a_figure_uses_our_value(value, verdict):
    values = {"botocore": 0.0} | ({} if value is None else {"ours": value})
    figure = Figure("refused", values, Bound(0.3, 0.1, at_most=True))
    assert figure.verdict == verdict
    assert figure.missed == (verdict in {"missed", "not measured"})


def test_what_is_only_reported_cannot_be_missed():
    assert not Figure("worst", {"ours": 1.0}).missed


def test_the_commit_id_seeds_the_draws():
    assert seeds("0000000a000000ff00000100" + "9" * 16) == [10, 255, 256]


def test_what_the_pacer_is_made_of_is_found_through_its_imports():
    names = {file.name for file in pacer_files()}
    assert {"pace.py", "learn.py", "headers.py", "level.py"} <= names
    assert "status.py" not in names
