"""A plan agrees with arithmetic where arithmetic knows the answer."""

import math

import pytest

from headgate.core.gates.budget import parse_caps
from headgate.core.pacing.pace import Pace
from headgate.core.rate import Ceilings, parse_limits
from headgate.engine.plan.advice import advise
from headgate.engine.plan.forecast import BindingLimit, Estimate, estimate, forecast_runs
from headgate.engine.plan.workload import Assumed, Workload, provider_from_pace

NOON = 1_800_000_000.0


def planned(requests: int, limits: str = "", **given: object) -> Estimate:
    return estimate(workload(requests, limits, **given), NOON)


def workload(requests: int, limits: str = "", **given: object) -> Workload:
    given.setdefault("assumed", Assumed(parse_limits(limits)))
    return Workload(requests, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(("limits", "per_s"), [("10/s", 10), ("50/s", 50), ("1/3s", 1 / 3)])
def test_a_single_limit_decides_the_duration(limits: str, per_s: float):
    found = planned(1_000, limits)
    assert 0.95 < found.seconds * per_s / 1_000 < 1.15
    assert found.binding is BindingLimit.RATE
    assert found.simulated == 1_000
    assert 0 < found.refused <= 50


def test_the_limit_that_is_tightest_in_the_long_run_decides():
    found = planned(1_000, "10/s, 100/min")
    assert 9 * 60 - 5 < found.seconds < 12 * 60
    assert found.binding is BindingLimit.RATE
    assert planned(1_000, "10/s, 6000/min").seconds < 120


def test_without_a_limit_latency_and_lanes_decide_the_duration():
    found = planned(3_000, lanes=4, latency_s=0.5)
    assert found.binding is BindingLimit.LANES
    assert found.seconds == pytest.approx(3_000 / (4 / 0.5), rel=0.1)
    assert found.refused == 0


def test_a_provider_with_a_concurrency_limit_gets_no_more_requests_at_a_time():
    found = planned(1_500, assumed=Assumed(cap=5), latency_s=0.2)
    assert found.binding is BindingLimit.CAP
    assert 1_500 / (5 / 0.2) * 0.9 < found.seconds < 1_500 / (5 / 0.2) * 1.5


def test_the_configured_rate_applies_even_if_the_provider_allows_more():
    found = planned(1_000, "100/s", ceilings=Ceilings(parse_limits("5/s")))
    assert (found.binding, found.refused) == (BindingLimit.CEILING, 0)
    assert found.seconds == pytest.approx(200, rel=0.02)
    assert found.steady_per_s == pytest.approx(5, rel=0.02)


def test_the_configured_concurrency_applies_too():
    found = planned(500, ceilings=Ceilings(concurrency=2), latency_s=0.25)
    assert found.binding is BindingLimit.CONCURRENCY
    assert found.seconds == pytest.approx(500 / (2 / 0.25), rel=0.1)


@pytest.mark.parametrize("credentials", [2, 4])
def test_credentials_multiply(credentials: int):
    alone = planned(2_000, "10/s").seconds
    together = planned(2_000, "10/s", credentials=credentials).seconds
    assert alone / together == pytest.approx(credentials, rel=0.12)


def test_more_credentials_do_not_help_beyond_the_lanes():
    found = planned(2_000, "50/s", credentials=10, lanes=8, latency_s=0.2)
    assert found.binding is BindingLimit.LANES
    assert found.seconds > 2_000 / (8 / 0.2) * 0.9


def test_several_processes_share_one_limit():
    alone = planned(2_000, "20/s")
    shared = planned(2_000, "20/s", processes=4)
    assert shared.seconds == pytest.approx(alone.seconds, rel=0.15)
    assert shared.refused < 40


def test_several_processes_share_a_configured_rate():
    found = planned(300, ceilings=Ceilings(parse_limits("5/s")), processes=3)
    assert found.binding is BindingLimit.CEILING
    assert found.seconds == pytest.approx(60, rel=0.1)


def test_a_budget_decides_if_it_is_tighter():
    caps = parse_caps({"tokens": "6000/min"}, {})
    found = planned(300, "10/s", caps=caps, cost={"tokens": 100.0})
    assert found.binding is BindingLimit.BUDGET
    assert 3.5 * 60 < found.seconds < 5.5 * 60


def test_a_hard_cap_waits_for_its_window():
    caps = parse_caps({}, {"money": "1/day"})
    found = planned(150, caps=caps, cost={"money": 0.01})
    until_midnight = math.ceil(NOON / 86_400) * 86_400 - NOON
    assert until_midnight < found.seconds < until_midnight + 60
    assert found.binding is BindingLimit.BUDGET


def test_a_million_is_simulated_in_part_and_extrapolated():
    found = forecast_runs(workload(1_000_000, "50/s"), NOON)
    assert found.extrapolated
    assert found.likely.simulated < 10_000
    assert found.likely.seconds == pytest.approx(20_000, rel=0.1)
    assert found.low_s < found.likely.seconds < found.high_s
    assert found.likely.refused < 5_000


def test_a_limit_over_a_longer_time_than_was_simulated_still_counts():
    found = planned(1_000_000, "10/s, 100000/day")
    assert found.seconds > 8.9 * 86_400
    assert found.binding is BindingLimit.RATE


def test_a_growing_rate_is_extrapolated_up_to_the_limit():
    found = planned(500_000, "1000/s", lanes=1_000)
    assert 500 < found.seconds < 900
    assert found.steady_per_s == pytest.approx(1_000)
    assert found.found_s is not None
    assert found.found_s > 60


def test_a_batch_that_ends_while_it_still_grows():
    found = planned(6_000, "5000/s", lanes=5_000)
    assert found.simulated < 6_000
    assert found.binding is BindingLimit.START
    assert found.steady_per_s < 1_000
    assert found.found_s is None


def test_a_batch_that_ends_before_a_limit_shows_is_limited_by_its_careful_start():
    assert planned(100, "1000/s").binding is BindingLimit.START


def test_nothing_to_do_takes_no_time():
    assert planned(0, "10/s").seconds == 0.0


def taught(per_s: float) -> Pace:
    """A pace that has been told a limit by a provider."""
    pace = Pace()
    headers = {"ratelimit-policy": f'"a";q={per_s};w=1', "ratelimit": '"a";r=5;t=1'}
    for number in range(50):
        sent_at = NOON - 30 + number / 10
        pace.on_send(sent_at, 1)
        pace.on_reply(sent_at + 0.1, sent_at, 1, 200, headers, 0.1)
    return pace


def test_a_forecast_assumes_the_learned_limit():
    told = provider_from_pace(taught(40.0).state)
    assert told == Assumed(parse_limits("40/s"), tells=True)
    assert provider_from_pace(Pace().state) is None


def test_a_learned_limit_makes_the_search_unnecessary():
    state = taught(200.0).state
    assumed = provider_from_pace(state)
    assert assumed is not None
    cold = planned(1_000, "200/s", lanes=100)
    warm = planned(1_000, assumed=assumed, remembered=(state,), lanes=100)
    assert warm.refused == 0
    assert warm.seconds < 0.8 * cold.seconds


def advised(load: Workload, *, pooled: bool = True, published: bool = False) -> list[str]:
    found = advise(forecast_runs(load, NOON), NOON, pooled=pooled, published=published)
    return [each.change for each in found]


def test_advice_is_about_the_tightest_limit_and_was_simulated():
    assert advised(workload(1_000, "10/s")) == ["a second credential"]
    assert advised(workload(1_000, "10/s"), pooled=False) == []
    assert advised(workload(3_000, lanes=4, latency_s=0.5)) == ["--concurrency 8"]
    capped = workload(500, ceilings=Ceilings(concurrency=1))
    assert advised(capped, pooled=False) == ["concurrency = 2 for the provider"]
    slow = workload(500, "10/s", ceilings=Ceilings(parse_limits("2/s")))
    assert advised(slow, pooled=False) == ["no configured rate"]


def test_no_advice_exceeds_a_published_limit():
    capped = workload(500, ceilings=Ceilings(concurrency=1))
    slow = workload(500, "10/s", ceilings=Ceilings(parse_limits("2/s")))
    assert advised(capped, pooled=False, published=True) == []
    assert advised(slow, pooled=False, published=True) == []


def test_advice_says_how_much_it_saves():
    (advice,) = advise(forecast_runs(workload(800, "10/s"), NOON), NOON, pooled=True)
    assert advice.seconds == pytest.approx(advice.instead_of / 2, rel=0.1)


def test_the_same_question_has_the_same_answer():
    assert forecast_runs(workload(400, "10/s, 100/min"), NOON) == forecast_runs(
        workload(400, "10/s, 100/min"), NOON
    )
