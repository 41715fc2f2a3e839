"""One process's part of a budget: drawn ahead, settled, given back."""

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.gates.budget import Budget, BudgetState, parse_caps
from headgate.core.gates.budget_share import BudgetShare

NOW = 1_800_000_000.0
TOKENS = parse_caps({"tokens": "100/min"}, {})


class Shared:
    """A budget that several processes draw from."""

    def __init__(self) -> None:
        self.state: BudgetState | None = None

    def exchange(self, allowance: BudgetShare, now: float, members: int = 1) -> None:
        self.state = allowance.draw(self.state, now, members)
        # As if through the ledger: a copy, which no process can change afterwards.
        self.state = msgspec.convert(msgspec.to_builtins(self.state), BudgetState)
        allowance.accepted(self.state, now)

    def spent(self, key: str = "tokens/60") -> float:
        return self.state.spent[key].total if self.state else 0.0


def asked(allowance: BudgetShare, now: float, **cost: float) -> float:
    return allowance.opens_at(now, cost)


def test_the_first_request_waits_for_an_exchange_and_then_goes():
    shared, mine = Shared(), BudgetShare(TOKENS)
    assert asked(mine, NOW, tokens=40) == math.inf
    assert mine.due(NOW)
    shared.exchange(mine, NOW)
    assert asked(mine, NOW, tokens=40) == NOW
    assert mine.take({"tokens": 40}) == {"tokens": 40}
    assert shared.spent() == 40


def test_a_request_waits_until_enough_spending_is_old():
    shared, mine = Shared(), BudgetShare(TOKENS)
    asked(mine, NOW, tokens=90)
    shared.exchange(mine, NOW)
    mine.take({"tokens": 90})
    asked(mine, NOW, tokens=50)
    shared.exchange(mine, NOW)
    opens_at = asked(mine, NOW, tokens=50)
    assert 60 <= opens_at - NOW < 70
    cap, until = mine.spent_cap(NOW) or pytest.fail("nothing is said to be spent")
    assert (cap.name, until) == ("tokens", opens_at)
    assert not mine.due(NOW)
    assert mine.due(opens_at)
    shared.exchange(mine, opens_at)
    assert asked(mine, opens_at, tokens=50) == opens_at


def test_two_processes_never_exceed_the_budget():
    shared, mine, other = Shared(), BudgetShare(TOKENS), BudgetShare(TOKENS)
    for each in (mine, other):
        asked(each, NOW, tokens=60)
        shared.exchange(each, NOW, 2)
    assert asked(mine, NOW, tokens=60) == NOW
    assert asked(other, NOW, tokens=60) > NOW + 50


def test_a_request_waits_only_briefly_for_returns_of_others():
    mine, budget = BudgetShare(TOKENS), Budget(TOKENS)
    asked(mine, NOW, tokens=60)
    budget.add(NOW, {"tokens": 80})
    mine.accepted(mine.draw(budget.state, NOW, 2, {"tokens": 50}), NOW)
    assert asked(mine, NOW, tokens=60) == NOW + 1
    mine.accepted(mine.draw(budget.state, NOW, 2, {"tokens": 10}), NOW)
    assert asked(mine, NOW, tokens=60) > NOW + 50


def test_the_actual_cost_corrects_the_estimate_up_and_down():
    shared, mine = Shared(), BudgetShare(TOKENS)
    asked(mine, NOW, tokens=90)
    shared.exchange(mine, NOW)
    reserved = mine.take({"tokens": 90})
    mine.settle(reserved, {"tokens": 10})
    shared.exchange(mine, NOW + 1)
    mine.settle({"tokens": 0}, {"tokens": 50})
    assert asked(mine, NOW + 1, tokens=1) == math.inf, "it is in debt"
    shared.exchange(mine, NOW + 1)
    assert shared.spent() >= 60


def test_a_request_without_an_estimate_reserves_the_usual_cost():
    mine = BudgetShare(TOKENS)
    assert mine.estimate({}) == {"tokens": 0.0}
    mine.settle({"tokens": 0.0}, {"tokens": 10})
    mine.settle({"tokens": 0.0}, {"tokens": 20})
    assert mine.estimate({}) == {"tokens": 12.0}
    assert mine.estimate({"tokens": 5}) == {"tokens": 5.0}


def test_what_others_learned_of_costs_is_known_from_the_start():
    shared, mine, later = Shared(), BudgetShare(TOKENS), BudgetShare(TOKENS)
    mine.settle({"tokens": 0.0}, {"tokens": 30})
    shared.exchange(mine, NOW)
    shared.exchange(later, NOW + 1)
    assert later.estimate({}) == {"tokens": 30.0}


def test_every_request_counts_in_the_budget_requests():
    mine = BudgetShare(parse_caps({}, {"requests": "3/day", "money": "1/day"}))
    assert mine.estimate({"money": 0.5}) == {"requests": 1.0, "money": 0.5}


@pytest.mark.parametrize("rubbish", [-5.0, math.nan, math.inf])
def test_an_invalid_cost_is_ignored(rubbish: float):
    mine = BudgetShare(TOKENS)
    assert mine.estimate({"tokens": rubbish, "unknown": 7}) == {"tokens": 0.0}
    assert mine.settle({"tokens": 0.0}, {"tokens": rubbish, "unknown": 7}) == {"tokens": 0.0}


def test_a_refused_request_took_nothing_but_its_place_among_the_requests():
    shared = Shared()
    mine = BudgetShare(parse_caps({"tokens": "100/min"}, {"requests": "3/day"}))
    asked(mine, NOW, tokens=40)
    shared.exchange(mine, NOW)
    assert mine.give_back(mine.take({"tokens": 40})) == {"tokens": 0.0, "requests": 1.0}
    shared.exchange(mine, NOW)
    assert shared.spent() <= 40 * 1.25
    assert shared.spent("requests/86400!") >= 1


def test_a_process_that_leaves_returns_its_reservations():
    shared, mine = Shared(), BudgetShare(TOKENS)
    asked(mine, NOW, tokens=40)
    shared.exchange(mine, NOW)
    assert shared.spent() == 40
    shared.exchange(mine, NOW, members=0)
    assert shared.spent() == 0
    assert mine.idle


def test_without_a_ledger_half_a_part_continues_and_is_told_later():
    shared, mine = Shared(), BudgetShare(TOKENS)
    asked(mine, NOW, tokens=40)
    shared.exchange(mine, NOW)
    mine.take({"tokens": 40})
    asked(mine, NOW, tokens=40)
    mine.lost(NOW, 1)
    assert asked(mine, NOW, tokens=40) == NOW
    mine.take({"tokens": 40})
    asked(mine, NOW, tokens=40)
    mine.lost(NOW, 1)
    assert asked(mine, NOW, tokens=40) > NOW + 50, "the last known budget is kept"
    shared.exchange(mine, NOW)
    assert shared.spent() == 80


STEPS = st.lists(
    st.tuples(st.integers(0, 2), st.floats(0, 5), st.floats(0, 100), st.booleans()), max_size=80
)


@given(STEPS)
def test_all_processes_together_never_exceed_the_budget(
    steps: list[tuple[int, float, float, bool]],
):
    shared, processes = Shared(), [BudgetShare(TOKENS) for _ in range(3)]
    now, taken = NOW, []
    for who, wait, cost, syncs in steps:
        now += wait
        mine = processes[who]
        if mine.opens_at(now, {"tokens": cost}) <= now:
            mine.take({"tokens": cost})
            taken.append((now, cost))
        # A lease is valid for seconds: a process that is silent for longer has to ask first.
        if syncs or mine.due(now):
            shared.exchange(mine, now, 3)
        for other in processes:
            shared.exchange(other, now, 3)
    for at, _ in taken:
        assert sum(cost for when, cost in taken if at <= when < at + 60) <= 100 + 1e-6
