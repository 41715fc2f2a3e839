"""An assumed provider applies all its limits together."""

import pytest

from headgate.core.pacing.headers import read_quota
from headgate.core.rate import parse_limits
from headgate.engine.plan.assumed import AssumedProvider
from headgate.engine.plan.workload import Assumed

NOON = 1_800_000_000.0


def taken(provider: AssumedProvider, times: list[float]) -> int:
    return sum(provider.judge(NOON + at).status == 200 for at in times)


def test_a_bucket_accepts_its_size_first_and_then_its_rate():
    provider = AssumedProvider(Assumed(parse_limits("10/s")), began=NOON, phase=0.0)
    assert taken(provider, [0.0] * 30) == 10
    assert taken(provider, [1 + step / 100 for step in range(100)]) == pytest.approx(19, abs=1)


def test_a_slow_bucket_accepts_one_request():
    provider = AssumedProvider(Assumed(parse_limits("1/3s")), began=NOON, phase=0.0)
    assert [provider.judge(NOON + at).status for at in (0, 2.9, 3.1)] == [200, 429, 200]


def test_a_window_accepts_its_count_until_it_ends():
    provider = AssumedProvider(Assumed(parse_limits("100/min")), began=NOON, phase=0.5)
    assert taken(provider, [0.0] * 150) == 100
    assert taken(provider, [29.9] * 5) == 0
    assert taken(provider, [30.1] * 150) == 100


def test_a_request_that_one_limit_refuses_does_not_count_for_the_others():
    provider = AssumedProvider(Assumed(parse_limits("2/s, 100/min")), began=NOON, phase=0.0)
    assert taken(provider, [0.0] * 50) == 2
    assert taken(provider, [second for second in range(1, 59) for _ in range(2)]) == 98


def test_requests_in_flight_stay_within_the_cap():
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


def test_a_provider_that_declares_limits_sends_its_tightest_in_a_known_header():
    provider = AssumedProvider(
        Assumed(parse_limits("10/s, 100/min"), tells=True), began=NOON, phase=0.0
    )
    quota = read_quota(provider.judge(NOON).headers, NOON)
    assert quota is not None
    assert quota.rate == pytest.approx(100 / 60)
    assert quota.remaining == 99
