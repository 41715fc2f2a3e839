"""Refusals that no limit explains: where they fall, and how their cost is counted."""

import pytest

from benchmarks.pacing.experiments.strays import Task, asked, measure, name_of, unlimited
from benchmarks.pacing.rules import OURS
from benchmarks.pacing.rules.rule import Rule
from benchmarks.pacing.scenario import Demand, Scenario, Strays
from benchmarks.pacing.simulation import simulate


def test_places_are_drawn_by_the_seed():
    strays = Strays(2_000, 3)
    assert len(strays.places(1)) == 3
    assert strays.places(1) == strays.places(1)
    assert strays.places(1) != strays.places(2)
    shared = Strays(100_000, share=0.01).places(1)
    assert 900 < len(shared) < 1_100


def test_exactly_these_requests_are_refused_and_the_work_ends():
    strays = Strays(200, 3)
    scenario = Scenario("few", None, demand=Demand(items=200), strays=strays)
    log = simulate(scenario, Rule(), 1).log
    assert len(log.refused) == 3
    assert len(log.answered) == 200
    assert len(log.sent) == 203


def test_only_waits_of_refusals_that_happened_are_asked():
    strays = Strays(100, 2, retry_after="31")
    scenario = Scenario("few", None, strays=strays)
    assert asked(scenario, 1, 100) == 62
    assert asked(scenario, 1, 0) == 0


@pytest.mark.parametrize("place", ["far", "near"])
@pytest.mark.parametrize("count", [1, 3])
def test_strays_cost_little_more_than_their_waits(place: str, count: int):
    strays = Strays(2_000, count, retry_after="31")
    (scenario,) = [each for each in unlimited() if each.name == f"{place}: {name_of(strays)}"]
    assert measure(Task(scenario, 1, OURS)).times <= 1.3
