"""A breaker leaves a dead host alone and finds out by itself when it lives again."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.breaker import Breaker, BreakerPolicy, BreakerState

POLICY = BreakerPolicy(
    failures=3, share=0.5, window_s=10.0, at_least=10, cooldown_s=1.0, cooldown_cap_s=8.0
)


class Longest:
    """Chance that always draws the upper end."""

    def uniform(self, a: float, b: float, /) -> float:
        return b


def fail(breaker: Breaker, now: float, times: int = 1) -> None:
    for _ in range(times):
        number = breaker.admit(now)
        assert number is not None
        breaker.failed(number, now, Longest())


def succeed(breaker: Breaker, now: float, times: int = 1) -> None:
    for _ in range(times):
        number = breaker.admit(now)
        assert number is not None
        breaker.succeeded(number, now)


def opened(now: float = 0.0) -> Breaker:
    breaker = Breaker(POLICY)
    fail(breaker, now, 3)
    return breaker


def test_failures_in_a_row_open_it():
    breaker = Breaker(POLICY)
    fail(breaker, 0.0, 2)
    assert breaker.state is BreakerState.CLOSED
    fail(breaker, 0.0)
    assert breaker.state is BreakerState.OPEN
    assert breaker.admit(0.5) is None
    assert breaker.wait_s(0.25) == 0.75


def test_a_success_in_between_breaks_the_row():
    breaker = Breaker(POLICY)
    fail(breaker, 0.0, 2)
    succeed(breaker, 0.0)
    fail(breaker, 0.0, 2)
    assert breaker.state is BreakerState.CLOSED


def test_errors_that_were_answered_open_it_only_as_a_large_share_of_many():
    breaker = Breaker(POLICY)
    for _ in range(POLICY.at_least - 1):
        breaker.failed(breaker.epoch, 0.0, Random(1), answered=True)
    assert breaker.state is BreakerState.CLOSED
    breaker.failed(breaker.epoch, 0.0, Random(1), answered=True)
    assert breaker.state is BreakerState.OPEN


def test_a_large_share_of_failures_opens_it():
    breaker = Breaker(POLICY)
    for _ in range(5):
        fail(breaker, 1.0)
        assert breaker.state is BreakerState.CLOSED
        succeed(breaker, 1.0)
    fail(breaker, 1.0)
    assert breaker.state is BreakerState.OPEN


def test_failures_of_long_ago_do_not_count():
    breaker = Breaker(POLICY)
    for _ in range(4):
        fail(breaker, 0.0)
        succeed(breaker, 0.0)
    succeed(breaker, 20.0, 2)
    assert not breaker.alert
    fail(breaker, 20.0)
    assert breaker.state is BreakerState.CLOSED


def test_failures_of_the_last_half_window_still_count():
    breaker = Breaker(POLICY)
    for _ in range(4):
        fail(breaker, 0.0)
        succeed(breaker, 0.0)
    succeed(breaker, 6.0)
    assert breaker.alert
    fail(breaker, 6.0)
    assert breaker.state is BreakerState.OPEN


def test_after_its_cool_down_one_trial_goes_out():
    breaker = opened()
    assert breaker.wait_s(1.0) == 0.0
    trial = breaker.admit(1.0)
    assert trial is not None
    assert breaker.state is BreakerState.HALF_OPEN
    assert breaker.admit(1.0) is None
    assert breaker.wait_s(1.0) > 0.0
    breaker.succeeded(trial, 1.1)
    assert breaker.state is BreakerState.CLOSED
    assert not breaker.alert
    assert breaker.admit(1.1) is not None


def test_each_failed_trial_doubles_the_longest_cool_down_up_to_a_cap():
    breaker = opened()
    now, waits = 0.0, []
    for _ in range(6):
        waits.append(breaker.reopens_s - now)
        now = breaker.reopens_s
        fail(breaker, now)
    assert waits == [1.0, 2.0, 4.0, 8.0, 8.0, 8.0]


def test_cool_downs_begin_small_again_after_a_success():
    breaker = opened()
    fail(breaker, 1.0)
    succeed(breaker, breaker.reopens_s)
    fail(breaker, 10.0, 3)
    assert breaker.reopens_s == 11.0


def test_a_trial_that_was_given_up_makes_room_for_another():
    breaker = opened()
    trial = breaker.admit(1.0)
    assert trial is not None
    breaker.abandoned(trial)
    assert breaker.admit(1.0) is not None


def test_many_requests_in_flight_are_one_outage():
    breaker = Breaker(POLICY)
    numbers = [breaker.admit(0.0) for _ in range(100)]
    for number in numbers:
        assert number is not None
        breaker.failed(number, 0.0, Longest())
    assert breaker.openings == 1
    assert breaker.reopens_s == 1.0


def test_old_news_change_nothing():
    breaker = Breaker(POLICY)
    old = breaker.admit(0.0)
    assert old is not None
    fail(breaker, 0.0, 3)
    breaker.succeeded(old, 0.5)
    assert breaker.state is BreakerState.OPEN
    trial = breaker.admit(1.0)
    assert trial is not None
    breaker.failed(old, 1.0, Longest())
    breaker.abandoned(old)
    assert breaker.admit(1.0) is None  # the trial still has the only place


def test_the_least_cool_down_is_not_above_the_longest():
    with pytest.raises(ValueError, match="cooldown_s is above cooldown_cap_s"):
        BreakerPolicy(cooldown_s=2.0, cooldown_cap_s=1.0)


Step = tuple[float, str]


@given(
    st.lists(st.tuples(st.floats(0.0, 5.0), st.sampled_from(["ok", "bad", "drop", "keep"]))),
    st.integers(0, 2**32),
)
def test_it_never_locks_up_and_never_lets_two_trials_out(steps: list[Step], seed: int):
    """Whatever happens, a host that answers again is asked again within the longest cool-down."""
    breaker, rng, now, open_numbers = Breaker(POLICY), Random(seed), 0.0, list[int]()
    for seconds, verdict in steps:
        now += seconds
        wait_s = breaker.wait_s(now)
        number = breaker.admit(now)
        assert (number is None) == (wait_s > 0.0)
        if number is None:
            continue
        if breaker.state is BreakerState.HALF_OPEN:
            assert breaker.admit(now) is None
        match verdict:
            case "ok":
                breaker.succeeded(number, now)
            case "bad":
                breaker.failed(number, now, rng)
            case "drop":
                breaker.abandoned(number)
            case _:
                open_numbers.append(number)
        assert breaker.reopens_s <= now + POLICY.cooldown_cap_s
    for number in open_numbers:
        breaker.abandoned(number)
    now += POLICY.cooldown_cap_s
    last = breaker.admit(now)
    assert last is not None
    breaker.succeeded(last, now)
    assert breaker.state is BreakerState.CLOSED
