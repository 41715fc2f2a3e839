"""An assumed provider keeps to its limits, all at once."""

import pytest

from headgate.core.pacing.headers import read_quota
from headgate.core.rate import parse_limits
from headgate.engine.plan.assumed import AssumedProvider
from headgate.engine.plan.workload import Assumed

NOON = 1_800_000_000.0


def taken(provider: AssumedProvider, times: list[float]) -> int:
    return sum(provider.judge(NOON + at).status == 200 for at in times)


def test_a_bucket_takes_its_size_at_once_and_its_rate_after_that():
    provider = AssumedProvider(Assumed(parse_limits("10/s")), began=NOON, phase=0.0)
    assert taken(provider, [0.0] * 30) == 10
    assert taken(provider, [1 + step / 100 for step in range(100)]) == pytest.approx(19, abs=1)


def test_a_slow_bucket_takes_one():
    provider = AssumedProvider(Assumed(parse_limits("1/3s")), began=NOON, phase=0.0)
    assert [provider.judge(NOON + at).status for at in (0, 2.9, 3.1)] == [200, 429, 200]


def test_a_window_takes_its_count_until_it_turns():
    provider = AssumedProvider(Assumed(parse_limits("100/min")), began=NOON, phase=0.5)
    assert taken(provider, [0.0] * 150) == 100
    assert taken(provider, [29.9] * 5) == 0
    assert taken(provider, [30.1] * 150) == 100


def test_what_one_limit_refuses_uses_up_no_other():
    provider = AssumedProvider(Assumed(parse_limits("2/s, 100/min")), began=NOON, phase=0.0)
    assert taken(provider, [0.0] * 50) == 2
    assert taken(provider, [second for second in range(1, 59) for _ in range(2)]) == 98


def test_no_more_are_under_way_than_the_cap():
    provider = AssumedProvider(Assumed(cap=2), began=NOON, phase=0.0)
    assert taken(provider, [0.0] * 5) == 2
    provider.ended()
    assert taken(provider, [0.0] * 5) == 1


def test_a_refusal_says_when_only_if_that_is_assumed():
    silent = AssumedProvider(Assumed(parse_limits("1/10s")), began=NOON, phase=0.0)
    polite = AssumedProvider(Assumed(parse_limits("1/10s"), says_when=True), began=NOON, phase=0.0)
    assert taken(silent, [0.0]) + taken(polite, [0.0]) == 2
    assert silent.judge(NOON + 4).headers == {}
    assert polite.judge(NOON + 4).headers == {"retry-after": "6"}


def test_a_provider_that_tells_names_its_tightest_limit_in_words_that_are_understood():
    provider = AssumedProvider(
        Assumed(parse_limits("10/s, 100/min"), tells=True), began=NOON, phase=0.0
    )
    quota = read_quota(provider.judge(NOON).headers, NOON)
    assert quota is not None
    assert quota.rate == pytest.approx(100 / 60)
    assert quota.remaining == 99
