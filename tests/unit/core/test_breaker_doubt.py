"""Most rows get errors: rows from elsewhere in the input tell whether the host is to blame."""

import pytest

from headgate.core.gates.breaker import Breaker, BreakerState, Failure
from tests.unit.core.gates.test_breaker import POLICY, Longest, error, fail, succeed


def in_doubt(now: float = 0.0) -> Breaker:
    breaker = Breaker(POLICY)
    while breaker.state is BreakerState.CLOSED:
        error(breaker, now)
    return breaker


def test_in_doubt_it_opens_only_if_rows_from_elsewhere_fail_too():
    breaker = in_doubt()
    for _ in range(Breaker.TRIALS - 1):
        error(breaker, breaker.reopens_s)
        assert breaker.in_doubt
        assert breaker.openings == 0
    error(breaker, breaker.reopens_s)
    assert breaker.state is BreakerState.OPEN
    assert not breaker.in_doubt


@pytest.mark.parametrize("failure", [Failure.UNREACHED, Failure.UNANSWERED])
def test_in_doubt_a_trial_that_is_not_answered_opens_it_at_once(failure):
    breaker = in_doubt()
    number = breaker.admit(breaker.reopens_s)
    assert number is not None
    assert breaker.wait_s(breaker.reopens_s) == Breaker.PAUSE_S, "one trial at a time"
    breaker.failed(number, breaker.reopens_s, Longest(), failure)
    assert breaker.state is BreakerState.OPEN
    assert breaker.cause is failure


def test_in_doubt_a_row_that_failed_before_proves_nothing():
    breaker = in_doubt()
    for _ in range(Breaker.TRIED - 1):
        error(breaker, breaker.reopens_s, again=True)
        assert breaker.in_doubt


def test_if_only_failed_rows_are_left_it_closes_after_some_trials():
    """Else the bad rows at the end of a job would go through it one by one."""
    breaker = in_doubt()
    while breaker.state is not BreakerState.OPEN:
        error(breaker, breaker.reopens_s)
    for _ in range(Breaker.TRIED):
        assert breaker.state is BreakerState.OPEN
        error(breaker, breaker.reopens_s, again=True)
    assert breaker.state is BreakerState.CLOSED


def test_in_doubt_rows_that_were_leased_in_their_turn_wait_for_one_from_elsewhere():
    breaker = in_doubt()
    now = breaker.reopens_s
    assert breaker.admit(now, elsewhere=False) is None
    assert breaker.wait_s(now, elsewhere=False) == Breaker.ELSEWHERE_S
    late = now + Breaker.ELSEWHERE_S
    assert breaker.wait_s(late, elsewhere=False) == 0.0, "then any row will do"
    assert breaker.admit(now, elsewhere=True) is not None


def rows_to_doubt(breaker: Breaker, now: float) -> int:
    rows = 0
    while breaker.state is BreakerState.CLOSED:
        error(breaker, now)
        rows += 1
    return rows


def test_after_a_doubt_without_ground_more_rows_must_fail_for_the_next_one():
    breaker = Breaker(POLICY)
    rows, now = [], 0.0
    for _ in range(4):
        rows.append(rows_to_doubt(breaker, now))
        now = breaker.reopens_s
        succeed(breaker, now)
        assert breaker.state is BreakerState.CLOSED
    assert rows == [5, 20, 80, 80]
    assert rows_to_doubt(breaker, now + 2 * POLICY.window_s) == 5, "that was long ago"


def test_a_host_that_was_dead_is_judged_as_before_when_it_is_back():
    breaker = in_doubt()
    succeed(breaker, breaker.reopens_s)
    fail(breaker, 1.0, POLICY.failures)
    assert breaker.state is BreakerState.OPEN
    succeed(breaker, breaker.reopens_s)
    assert rows_to_doubt(breaker, breaker.reopens_s) == 5
