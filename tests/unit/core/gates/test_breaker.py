"""A breaker leaves a dead host alone and finds out by itself when it lives again."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.gates.breaker import Breaker, BreakerPolicy, BreakerState, Failure

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


def test_errors_that_were_answered_raise_a_doubt_only_as_a_large_share_of_many():
    breaker = Breaker(POLICY)
    for _ in range(4):
        breaker.failed(breaker.epoch, 0.0, Random(1), Failure.ERROR)
    assert breaker.state is BreakerState.CLOSED
    breaker.failed(breaker.epoch, 0.0, Random(1), Failure.ERROR)
    assert breaker.in_doubt
    assert breaker.admit(0.0) is None, "rows that are leased already are handed back first"
    assert breaker.wait_s(0.0) == Breaker.PAUSE_S


def test_a_large_share_of_failures_opens_it():
    breaker = Breaker(POLICY)
    for _ in range(4):
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


def test_cool_downs_grow_with_the_outage_up_to_a_cap():
    breaker = opened()
    breaker.answered = True
    now, waits = 0.0, []
    for _ in range(20):
        waits.append(breaker.reopens_s - now)
        now = breaker.reopens_s
        fail(breaker, now)
    assert waits[:3] == pytest.approx([1.0, 4 / 3, 16 / 9])
    assert waits == sorted(waits)
    assert waits[-3:] == [8.0, 8.0, 8.0]


def test_a_long_cool_down_takes_a_long_outage_and_failed_trials():
    policy = BreakerPolicy(failures=1, cooldown_s=1.0, cooldown_cap_s=60.0)
    breaker = Breaker(policy)
    fail(breaker, 0.0)
    fail(breaker, 1_000.0)
    assert breaker.reopens_s == 1_002.0, "twice as long after each trial"
    for _ in range(10):
        fail(breaker, breaker.reopens_s)
    assert breaker.wait_s(0.0) == breaker.reopens_s
    now = breaker.reopens_s
    fail(breaker, now)
    assert breaker.reopens_s == now + 60.0


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


def test_outdated_reports_change_nothing():
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


def error(breaker: Breaker, now: float, *, again: bool = False) -> None:
    number = breaker.admit(now)
    assert number is not None
    breaker.failed(number, now, Longest(), Failure.ERROR, again=again)


def lose(breaker: Breaker, now: float, *, again: bool = False) -> None:
    number = breaker.admit(now)
    assert number is not None
    breaker.failed(number, now, Longest(), Failure.UNANSWERED, again=again)


@pytest.mark.parametrize("fails", [error, lose])
def test_a_row_that_failed_before_says_nothing_new(fails):
    """The end of a job: nothing is left but rows that the host does not like."""
    breaker = Breaker(BreakerPolicy())
    for number in range(1_000):
        fails(breaker, number * 0.1, again=True)
    assert breaker.state is BreakerState.CLOSED
    assert not breaker.alert


@pytest.mark.parametrize("failure", [Failure.ERROR, Failure.UNANSWERED])
@pytest.mark.parametrize("per_s", [0.2, 12.0, 1_000.0])
@pytest.mark.parametrize("share", [0.01, 0.03, 0.1, 0.19])
def test_it_never_opens_for_a_host_that_fails_on_some_rows(share, per_s, failure):
    for seed in range(2):
        breaker, rng = Breaker(BreakerPolicy()), Random(seed)
        for number in range(10_000):
            now = number / per_s
            if rng.random() < share:
                breaker.failed(breaker.epoch, now, rng, failure)
            else:
                breaker.succeeded(breaker.epoch, now)
            if rng.random() < share:  # and its retries, in any order
                breaker.failed(breaker.epoch, now, rng, failure, again=True)
        assert breaker.state is BreakerState.CLOSED


@pytest.mark.parametrize("per_s", [0.1, 12.0, 1_000.0])
def test_it_opens_for_a_host_that_answers_all_rows_with_an_error(per_s):
    breaker = Breaker(BreakerPolicy())
    now, rows = 0.0, 0
    succeed(breaker, now, 500)
    while breaker.state is BreakerState.CLOSED:
        now += 1 / per_s
        rows += 1
        error(breaker, now)
    assert rows <= BreakerPolicy().at_least


def test_it_opens_for_a_dead_host_after_few_requests_whatever_was_tried_before():
    breaker, policy = Breaker(BreakerPolicy()), BreakerPolicy()
    for _ in range(policy.failures):
        number = breaker.admit(1.0)
        assert number is not None
        breaker.failed(number, 1.0, Longest(), Failure.UNREACHED, again=True)
    assert breaker.state is BreakerState.OPEN


@pytest.mark.parametrize("fails", [error, lose])
def test_quick_errors_do_not_outrun_slow_answers(fails):
    """Of 400 rows that are sent at once, 60 fail at once; the answers to the others take long."""
    breaker = Breaker(BreakerPolicy())
    breaker.in_flight = 400
    for _ in range(60):
        breaker.in_flight -= 1
        fails(breaker, 0.1)
    assert breaker.state is BreakerState.CLOSED
    for _ in range(340):
        breaker.in_flight -= 1
        if breaker.state is BreakerState.CLOSED:
            fails(breaker, 5.0)
    assert breaker.state is not BreakerState.CLOSED, "the others have failed as well"
    assert breaker.in_doubt is (fails is error)


def test_a_host_that_is_back_may_answer_the_trial_with_an_error():
    breaker = opened()
    error(breaker, 1.0)
    assert breaker.state is BreakerState.CLOSED


def test_a_trial_with_a_row_that_failed_before_proves_nothing_and_is_repeated_soon():
    breaker = Breaker(POLICY)
    for _ in range(5):
        error(breaker, 0.0)
    for _ in range(Breaker.TRIALS + 4):
        error(breaker, breaker.reopens_s)  # new rows: the host really fails
    assert breaker.openings == 5
    now = breaker.reopens_s
    error(breaker, now, again=True)
    assert breaker.state is BreakerState.OPEN
    assert breaker.reopens_s == now + POLICY.cooldown_s
    assert breaker.openings == 5
    now = breaker.reopens_s
    error(breaker, now)
    assert breaker.reopens_s > now + POLICY.cooldown_s


@pytest.mark.parametrize(("answered", "limit_s"), [(False, 90.0), (True, 1_800.0)])
def test_rows_stop_waiting_for_a_host_after_a_limit(answered, limit_s):
    breaker, rng = Breaker(BreakerPolicy()), Random(1)
    breaker.answered = answered
    now = 5.0
    while breaker.state is BreakerState.CLOSED:
        breaker.failed(breaker.epoch, now, rng)
    while not breaker.gave_up(now):
        now = breaker.reopens_s
        number = breaker.admit(now)
        assert number is not None
        breaker.failed(number, now, rng)
        assert now <= 5.0 + limit_s + 1.0
    assert now >= 5.0 + limit_s
    now = breaker.reopens_s
    succeed(breaker, now)
    assert not breaker.gave_up(now)
    assert breaker.answered


def test_a_failure_of_long_ago_does_not_shorten_the_wait():
    breaker, policy = Breaker(BreakerPolicy()), BreakerPolicy()
    fail(breaker, 0.0)
    later = 10 * policy.give_up_s
    fail(breaker, later, policy.failures)
    assert breaker.state is BreakerState.OPEN
    assert not breaker.gave_up(later)


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
