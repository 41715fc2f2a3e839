"""A whole job against a provider in trouble, in simulated time, with the real decisions.

The order of claims, the backoff and the breaker are those of the product; the provider is a
function. The oracle is the same job without its bad rows.
"""

import heapq
from collections.abc import Callable
from random import Random
from typing import NamedTuple

import pytest

from headgate.core.gates.breaker import Breaker, BreakerPolicy, BreakerState, Failure
from headgate.core.retry import RetryPolicy, backoff_s
from headgate.core.sizing import ClaimPolicy, ClaimSizer
from headgate.engine.dispatcher import Dispatcher

ROWS, LANES, LATENCY_S = 10_000, 32, 0.05
RETRY = RetryPolicy()
Minute = tuple[float, float]
NEVER = (0.0, 0.0)


class Result(NamedTuple):
    """Seconds until 95 % of the good rows were settled, openings of the breaker, rows done."""

    seconds_to_95: float
    openings: int
    done: int


class Job:
    """Rows, lanes and one host."""

    def __init__(self, bad: frozenset[int], rows: list[int], dead: Minute, error_s: float) -> None:
        self.breaker = Breaker(BreakerPolicy())
        self.breaker.answered = True
        self.rng = Random(3)
        self.bad, self.dead, self.error_s = bad, dead, error_s
        self.fresh = rows[::-1]
        self.retries: list[tuple[float, int]] = []
        self.failures = dict.fromkeys(rows, 0)
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        self.now, self.order, self.owed, self.openings = 0.0, 0, 0.0, 0
        self.trials = 0
        self.sizer = ClaimSizer(ClaimPolicy(), LANES)
        self.settled: list[float] = []
        self.open = len(rows)

    def at(self, when: float, call: Callable[[], None]) -> None:
        self.order += 1
        heapq.heappush(self.events, (when, self.order, call))

    def run(self) -> Result:
        good = sum(row not in self.bad for row in self.failures)
        for _ in range(LANES):
            self.at(0.0, self.lane)
        while self.events:
            self.now, _, call = heapq.heappop(self.events)
            call()
        return Result(self.settled[round(good * 0.95) - 1], self.openings, len(self.settled))

    def lane(self) -> None:
        """Take a row and send it; with nothing to do, look again a little later."""
        wait_s = self.breaker.wait_s(self.now)
        row = self.next_row(is_trial=self.breaker.state is not BreakerState.CLOSED)
        if row is None:
            if self.open:
                self.at(self.now + 0.05, self.lane)
            return
        number = self.breaker.admit(self.now)
        if number is None:
            heapq.heappush(self.retries, (self.now + wait_s, row))
            self.at(self.now + min(wait_s, 0.2), self.lane)
            return
        self.breaker.in_flight += 1
        self.at(self.now + self.takes_s(row), lambda: self.ended(row, number))

    def next_row(self, *, is_trial: bool) -> int | None:
        due = bool(self.retries) and self.retries[0][0] <= self.now
        self.owed += 0.0 if is_trial else self.sizer.retry_share
        if due and (self.owed >= 1.0 or not self.fresh):
            self.owed %= 1.0
            return heapq.heappop(self.retries)[1]
        if not self.fresh or not is_trial:
            return self.fresh.pop() if self.fresh else None
        self.trials += 1
        part = self.trials * Dispatcher.GOLDEN % 1
        return self.fresh.pop(int((1 - part) * (len(self.fresh) - 1)))

    def is_dead(self) -> bool:
        return self.dead[0] <= self.now < self.dead[1]

    def takes_s(self, row: int) -> float:
        if self.is_dead():
            return 0.001
        return self.error_s if row in self.bad else LATENCY_S * self.rng.uniform(0.8, 1.2)

    def ended(self, row: int, number: int) -> None:
        breaker, again = self.breaker, self.failures[row] > 0
        breaker.in_flight -= 1
        before = breaker.openings
        if self.is_dead():
            breaker.failed(number, self.now, self.rng, Failure.UNREACHED, again=again)
            heapq.heappush(self.retries, (self.now + max(breaker.wait_s(self.now), 1.0), row))
        elif row in self.bad:
            breaker.failed(number, self.now, self.rng, Failure.ERROR, again=again)
            self.sizer.ended(LATENCY_S, failed=True, again=again)
            self.failures[row] += 1
            if self.failures[row] < RETRY.max_attempts_error:
                due = self.now + backoff_s(self.failures[row], RETRY, self.rng)
                heapq.heappush(self.retries, (due, row))
            else:
                self.open -= 1
        else:
            breaker.succeeded(number, self.now)
            self.sizer.ended(LATENCY_S, failed=False, again=again)
            self.settled.append(self.now)
            self.open -= 1
        self.openings += breaker.openings > before
        self.at(self.now, self.lane)


def simulate_together(bad: range, *, oracle: bool = False) -> Result:
    """Bad rows that stand together in the input."""
    rows = [row for row in range(ROWS) if not (oracle and row in bad)]
    return Job(frozenset(bad), rows, NEVER, LATENCY_S).run()


def simulate(
    share: float, *, dead: Minute = NEVER, error_s: float = LATENCY_S, oracle: bool = False
) -> Result:
    bad = frozenset(Random(11).sample(range(ROWS), round(ROWS * share)))
    rows = [row for row in range(ROWS) if not (oracle and row in bad)]
    return Job(bad, rows, dead, error_s).run()


@pytest.mark.parametrize("error_s", [0.001, LATENCY_S, 10 * LATENCY_S])
@pytest.mark.parametrize("share", [0.01, 0.03, 0.1, 0.19])
def test_bad_rows_never_open_the_breaker_and_no_good_row_is_lost(share: float, error_s: float):
    """Quick errors, slow ones, and at the end nothing but rows that failed before."""
    result = simulate(share, error_s=error_s)
    assert result.openings == 0
    assert result.done == ROWS - round(ROWS * share)


@pytest.mark.parametrize("number", [30, 100, 1_000, 1_900])
@pytest.mark.parametrize("first", [0, 2_000])
def test_bad_rows_that_stand_together_cost_a_moment_and_never_open_it(number: int, first: int):
    bad = range(first, first + number)
    ours, ideal = simulate_together(bad), simulate_together(bad, oracle=True)
    assert ours.openings == 0
    assert ours.done == ROWS - number
    first_tries = 1 - number / ROWS
    pauses_s = 1.5
    assert ours.seconds_to_95 <= ideal.seconds_to_95 / first_tries / 0.9 + pauses_s


@pytest.mark.parametrize("share", [0.01, 0.03])
def test_good_rows_are_as_fast_as_if_the_bad_rows_were_known(share: float):
    ours, ideal = simulate(share), simulate(share, oracle=True)
    assert ideal.seconds_to_95 / ours.seconds_to_95 >= 0.9


def test_with_one_bad_row_in_ten_only_their_own_first_tries_cost_much():
    """Every row has to be asked once to know that it is bad; the oracle need not do that."""
    ours, ideal = simulate(0.1), simulate(0.1, oracle=True)
    first_tries = 1 / 0.9
    assert ideal.seconds_to_95 * first_tries / ours.seconds_to_95 >= 0.9


@pytest.mark.parametrize("share", [0.03, 0.1])
def test_retries_that_fail_again_cost_good_rows_hardly_anything(share: float):
    ours, ideal = simulate(share), simulate(share, oracle=True)
    first_tries = 1 / (1 - share)
    assert ideal.seconds_to_95 * first_tries / ours.seconds_to_95 >= 0.975


@pytest.mark.parametrize("share", [0.0, 0.03, 0.1])
def test_a_dead_minute_costs_little_more_than_a_minute(share: float):
    alive, dead = simulate(share), simulate(share, dead=(10.0, 70.0))
    assert dead.openings > 0
    assert dead.done == alive.done, "nobody paid for it with an attempt"
    assert dead.seconds_to_95 <= alive.seconds_to_95 + 60.0 * (1 + Breaker.OVERSHOOT)
