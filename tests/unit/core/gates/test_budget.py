"""Budgets: how much may be spent, when more may be spent, and corrections."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.gates.budget import Budget, BudgetState, parse_caps

DAY = 86_400.0
NOW = 1_800_000_000.0
TOKENS = parse_caps({"tokens": "100/min"}, {})


def test_a_cost_that_fits_is_reserved_and_one_that_does_not_reserves_nothing():
    budget = Budget(TOKENS)
    assert budget.reserve(NOW, {"tokens": 60}) == NOW
    assert budget.reserve(NOW, {"tokens": 60}) > NOW
    assert budget.reserve(NOW, {"tokens": 40}) == NOW


def test_a_limit_opens_when_enough_spending_is_old():
    budget = Budget(TOKENS)
    budget.reserve(NOW, {"tokens": 100})
    opens_at = budget.opens_at(NOW + 1, {"tokens": 50})
    assert 60 <= opens_at - NOW <= 60 + 2 * 60 / 20
    assert budget.reserve(opens_at, {"tokens": 50}) == opens_at


def test_a_cost_above_the_limit_passes_alone():
    budget = Budget(TOKENS)
    assert budget.reserve(NOW, {"tokens": 500}) == NOW
    opens_at = budget.opens_at(NOW, {"tokens": 500})
    assert opens_at > NOW
    assert budget.reserve(opens_at, {"tokens": 500}) == opens_at


def test_settling_replaces_the_estimate():
    budget = Budget(TOKENS)
    budget.reserve(NOW, {"tokens": 90})
    budget.add(NOW + 1, {"tokens": -70})
    assert budget.reserve(NOW + 1, {"tokens": 80}) == NOW + 1
    budget.add(NOW + 2, {"tokens": 120})
    assert budget.opens_at(NOW + 2, {"tokens": 1}) > NOW + 2


def test_a_hard_cap_is_closed_until_its_window_turns():
    budget = Budget(parse_caps({}, {"money": "5/day"}))
    assert budget.reserve(NOW, {"money": 5}) == NOW
    midnight = (NOW // DAY + 1) * DAY
    assert budget.reserve(NOW + 1, {"money": 0.01}) == midnight
    assert budget.opens_at(NOW + 1, {}) == midnight, "nothing goes, not even what costs nothing"
    assert budget.narrowest(NOW + 1, {}) == parse_caps({}, {"money": "5/day"})[0]
    assert budget.narrowest(midnight, {}) is None
    assert budget.reserve(midnight, {"money": 5}) == midnight


def test_a_cost_is_reserved_only_if_all_limits_allow_it():
    budget = Budget(parse_caps({"tokens": "100/min", "bytes": "10/s"}, {}))
    assert budget.reserve(NOW, {"tokens": 10, "bytes": 10}) == NOW
    assert budget.reserve(NOW, {"tokens": 10, "bytes": 10}) > NOW
    assert budget.room(NOW, "tokens") == 90


def test_several_limits_on_one_budget_apply_together():
    budget = Budget(parse_caps({"tokens": "100/min, 150/h"}, {}))
    assert budget.reserve(NOW, {"tokens": 100}) == NOW
    later = budget.opens_at(NOW, {"tokens": 50})
    assert 60 <= later - NOW < 70
    assert budget.reserve(later, {"tokens": 50}) == later
    assert budget.opens_at(later, {"tokens": 1}) - NOW >= 3_600


def test_a_limit_that_is_raised_continues_counting():
    budget = Budget(parse_caps({}, {"money": "5/day"}))
    budget.reserve(NOW, {"money": 4})
    raised = Budget(parse_caps({}, {"money": "10/day"}), budget.remembered())
    assert raised.room(NOW, "money") == 6


STEPS = st.lists(st.tuples(st.floats(0, 30), st.floats(0, 120), st.floats(0, 120)), max_size=60)


@given(STEPS)
def test_no_interval_of_the_length_of_a_limit_exceeds_it(
    steps: list[tuple[float, float, float]],
):
    budget = Budget(TOKENS)
    now, taken = NOW, []
    for wait, cost, _ in steps:
        now += wait
        if cost <= 100 and budget.reserve(now, {"tokens": cost}) <= now:
            taken.append((now, cost))
    for at, _ in taken:
        assert sum(cost for when, cost in taken if at <= when < at + 60) <= 100 + 1e-6


@given(STEPS)
def test_a_budget_continues_from_its_written_state(steps: list[tuple[float, float, float]]):
    caps = parse_caps({"tokens": "100/min"}, {"tokens": "500/10min"})
    budget = Budget(caps)
    now = NOW
    for wait, cost, actual in steps:
        now += wait
        if budget.reserve(now, {"tokens": cost}) <= now:
            budget.add(now, {"tokens": actual - cost})
    written = msgspec.json.encode(budget.remembered())
    again = Budget(caps, msgspec.json.decode(written, type=BudgetState))
    assert again.opens_at(now, {"tokens": 50}) == budget.opens_at(now, {"tokens": 50})
    assert again.remembered() == budget.remembered()


def test_a_cap_is_written_in_plain_amounts_and_spans():
    caps = parse_caps({"tokens": "1000000/day, 90/5s"}, {"usd": "0.5/h"})
    assert [cap.words for cap in caps] == [
        "1,000,000 tokens in a day",
        "90 tokens in 5 s",
        "0.5 usd in an hour",
    ]
