"""Limits that a provider declares: followed immediately, trusted until they prove false."""

import pytest

from headgate.core.pacing.pace import Pace
from headgate.core.pacing.state import Cause
from headgate.core.rate import Ceilings
from tests.kit.pace_run import LATENCY, Run


def fields(count: float, seconds: float, remaining: float = 50, reset: float = 1) -> dict[str, str]:
    """As the IETF's drafts have them."""
    return {
        "ratelimit-policy": f'"default";q={count};w={seconds}',
        "ratelimit": f'"default";r={remaining};t={reset}',
    }


def answer(run: Run, status: int, headers: dict[str, str]) -> bool:
    """Send one and have it answered; whether that was a refusal."""
    at = max(run.pace.gate(run.now, 0), run.now)
    run.pace.on_send(at, 1)
    run.now = at + LATENCY
    return run.pace.on_reply(run.now, at, 1, status, headers, LATENCY).refused


def test_a_lower_limit_is_followed_at_once():
    run = Run(Pace(start=50.0))
    run.deliver(5)
    answer(run, 200, fields(2, 1, remaining=1))
    assert run.pace.learned == 2
    assert run.pace.rate(run.now) == pytest.approx(2, rel=0.05)
    run.pace.on_send(run.now, 1)
    run.pace.gate(run.now, 1)
    assert run.pace.why(run.now) is Cause.TOLD


def test_a_higher_limit_is_approached_within_seconds_but_not_at_once():
    run = Run()
    answer(run, 200, fields(1000, 1))
    assert run.pace.rate(run.now) < 100
    until = run.now + 5
    while run.now < until:
        answer(run, 200, fields(1000, 1, remaining=900))
    assert run.pace.rate(run.now) > 900


def test_a_window_of_which_nothing_is_left_is_waited_out():
    run = Run()
    answer(run, 200, fields(10, 60, remaining=0, reset=33))
    assert run.pace.gate(run.now, 0) == run.now + 33
    assert run.pace.why(run.now) is Cause.TOLD


def test_a_reset_in_a_year_is_not_waited_for():
    run = Run(Pace(Ceilings(longest_wait_s=300.0)))
    answer(run, 200, fields(10, 60, remaining=0, reset=31_536_000))
    assert run.pace.gate(run.now, 0) == run.now + 300


def test_what_remains_until_the_reset_is_spread_where_no_window_is_told():
    run = Run()
    for _ in range(40):
        headers = {
            "x-ratelimit-limit": "5000",
            "x-ratelimit-remaining": "1000",
            "x-ratelimit-reset": "500",
        }
        answer(run, 200, headers)
    assert run.pace.rate(run.now) == pytest.approx(2, rel=0.05)


def test_much_that_remains_at_the_end_of_a_window_is_not_a_reason_to_rush():
    run = Run()
    for left in range(3600, 0, -60):
        headers = {
            "x-ratelimit-limit": "3600",
            "x-ratelimit-remaining": "3500",
            "x-ratelimit-reset": str(left),
        }
        answer(run, 200, headers)
        run.now += 60
    assert run.pace.rate(run.now) <= 4.01


def test_a_refusal_below_the_told_limit_ends_the_belief():
    run = Run()
    for _ in range(100):
        answer(run, 200, fields(100, 1, remaining=90))
    run.now += 5
    answer(run, 429, fields(100, 1, remaining=90))
    assert not run.pace.state.told
    for _ in range(20):
        answer(run, 200, fields(100, 1, remaining=90))
    assert not run.pace.state.told
    assert run.pace.rate(run.now) < 100


def test_a_false_declared_limit_causes_few_refusals():
    """It tells 1000 a second and takes 10: what is refused must stay little."""
    run = Run()
    tokens, last, refused, sent = 10.0, run.now, 0, 0
    until = run.now + 120
    while run.now < until:
        at = max(run.pace.gate(run.now, 0), run.now)
        tokens = min(tokens + 10 * (at - last), 10.0)
        last = at
        taken = tokens >= 1
        tokens -= taken
        run.pace.on_send(at, 1)
        run.now = at + 0.01
        run.pace.on_reply(run.now, at, 1, 200 if taken else 429, fields(1000, 1), 0.01)
        refused += not taken
        sent += 1
    assert sent > 900
    assert refused < 40


def test_a_refusal_that_brings_the_new_limit_is_not_a_contradiction():
    run = Run(Pace(start=20.0))
    for _ in range(60):
        answer(run, 200, fields(20, 1, remaining=5))
    answer(run, 429, fields(5, 1, remaining=0))
    assert run.pace.state.told
    assert run.pace.learned == 5


def test_a_provider_that_stops_telling_is_looked_at_again():
    run = Run()
    for _ in range(20):
        answer(run, 200, fields(5, 1, remaining=3))
    run.for_seconds(70)
    answer(run, 200, {"content-type": "text/plain"})
    assert not run.pace.state.told
    run.for_seconds(60)
    assert run.pace.rate(run.now) > 5


def test_in_a_brief_window_the_mean_counts_and_not_what_remains():
    run = Run()
    headers = {
        "x-ratelimit-limit": "20",
        "x-ratelimit-remaining": "8",
        "x-ratelimit-reset": "1",
    }
    for _ in range(60):
        answer(run, 200, headers)
    assert run.pace.learned == pytest.approx(0.95 * 20)


def test_where_a_lie_came_to_light_the_truth_is_looked_for_from_below():
    run = Run()
    for _ in range(100):
        answer(run, 200, fields(100, 1, remaining=90))
    answer(run, 429, fields(100, 1, remaining=90))
    assert run.pace.learned == pytest.approx(0.25 * 100, rel=0.02)


def test_a_high_limit_that_is_told_is_approached_more_slowly_at_last():
    run = Run(Pace(start=100.0))
    answer(run, 200, fields(10_000, 1))
    answer(run, 200, fields(10_000, 1))
    first = run.pace.state.rate.value
    answer(run, 200, fields(10_000, 1))
    second = run.pace.state.rate.value
    answer(run, 200, fields(10_000, 1))
    third = run.pace.state.rate.value
    assert third / second < second / first


def test_what_went_too_fast_before_it_was_told_is_made_up_for():
    run = Run(Pace(start=10.0))
    run.deliver(3)
    sent_at = run.now
    answer(run, 200, fields(5, 1, remaining=1))
    assert run.pace.gate(run.now, 0) > sent_at + 1 / 5 + 2 * (1 / 5 - 1 / 10)


def test_what_is_left_on_the_way_up_is_not_a_sign_of_plenty():
    run = Run()
    until = run.now + 1.2
    while run.now < until:
        answer(run, 200, fields(60, 1, remaining=50))
    assert run.pace.learned == 60
    assert run.pace.state.rate.margin < 0.98
    until = run.now + 5
    while run.now < until:
        answer(run, 200, fields(60, 1, remaining=50))
    assert run.pace.state.rate.margin > 0.99
