"""Sizes follow the work and stay within their bounds."""

import pytest

from headgate.core.sizing import ClaimPolicy, ClaimSizer, Ewma, IngestPolicy, IngestSizer


def sizer_of(item_s: float, concurrency: int = 10, *, failed: bool = False) -> ClaimSizer:
    sizer = ClaimSizer(ClaimPolicy(), concurrency)
    for _ in range(100):
        sizer.ended(item_s, failed=failed)
    return sizer


def test_a_mean_starts_with_its_first_value_and_forgets_slowly():
    mean = Ewma(0.5)
    assert mean.add(4.0) == 4.0
    assert mean.add(8.0) == 6.0


def test_unknown_work_starts_with_two_items_for_each_lane():
    assert ClaimSizer(ClaimPolicy(), 10).size() == 20


def test_a_claim_is_about_one_slice_of_work():
    # Ten lanes of 0.1 s do 100 items a second; two seconds of that, and 0.7 for safety.
    assert sizer_of(0.1).size() == pytest.approx(140, abs=1)


def test_fast_work_stops_at_the_bound_and_slow_work_still_feeds_every_lane():
    assert sizer_of(0.000001).size() == ClaimPolicy().claim_max
    assert sizer_of(1_000.0).size() == 10


@pytest.mark.parametrize("trouble", ["errors", "pressure"])
def test_claims_shrink_when_work_fails_or_the_machine_is_short_of_breath(trouble):
    calm = sizer_of(0.1).size()
    sizer = sizer_of(0.1, failed=trouble == "errors")
    sizer.pressed(pressed=trouble == "pressure")
    assert sizer.size() == pytest.approx(calm / 4, abs=1)


def test_a_silent_worker_is_given_twice_an_items_time_within_the_bounds():
    assert sizer_of(0.001).ttl_s() == ClaimPolicy().lock_floor_s
    assert sizer_of(20.0).ttl_s() == pytest.approx(40.0)
    assert sizer_of(10_000.0).ttl_s() == ClaimPolicy().lock_cap_s


@pytest.mark.parametrize(
    "wrong", [{"claim_min": 9, "claim_max": 8}, {"lock_floor_s": 9.0, "lock_cap_s": 8.0}]
)
def test_bounds_that_cross_are_refused(wrong):
    with pytest.raises(ValueError, match="is above"):
        ClaimPolicy(**wrong)


def test_ingest_doubles_while_the_database_keeps_up():
    sizer = IngestSizer(IngestPolicy(min_rows=64, max_rows=200))
    sizes = []
    for _ in range(3):
        sizes.append(sizer.rows)
        sizer.committed(1.0)
    assert sizes == [64, 128, 200]
    assert sizer.latency_ms == pytest.approx(1.0)


@pytest.mark.parametrize("signal", ["slow", "waited", "failed"])
def test_ingest_shrinks_when_the_database_does_not(signal):
    sizer = IngestSizer(IngestPolicy())
    for _ in range(5):
        sizer.committed(1.0)
    before = sizer.rows
    if signal == "failed":
        sizer.failed()
        assert sizer.rows == before // 4
    else:
        sizer.committed(10_000.0 if signal == "slow" else 1.0, waited=signal == "waited")
        assert sizer.rows == before // 2


def test_ingest_stays_where_it_is_between_the_two_targets():
    policy = IngestPolicy(db_p50_ms=10.0, db_p95_ms=500.0)
    sizer = IngestSizer(policy)
    sizer.committed(100.0)
    assert sizer.rows == policy.min_rows
