"""Sizes follow the work, within their bounds."""

import pytest

from headgate.core.sizing import ClaimPolicy, ClaimSizer, Ewma, IngestPolicy, IngestSizer


def a_sizer(seconds: float | None = None, concurrency: int = 10, **policy: float) -> ClaimSizer:
    sizer = ClaimSizer(ClaimPolicy(**policy), concurrency)  # type: ignore[arg-type]
    if seconds is not None:
        sizer.ended(seconds, failed=False)
    return sizer


def test_a_mean_forgets():
    mean = Ewma(0.5)
    assert mean.value is None
    assert mean.add(10.0) == 10.0
    assert mean.add(0.0) == 5.0
    assert mean.add(0.0) == 2.5


def test_unknown_work_starts_with_two_for_each_lane():
    assert a_sizer().size() == 20


def test_a_claim_is_about_one_slice_of_work():
    # Ten lanes, 0.1 s each: 100 items a second, a slice of two seconds, seven tenths of it.
    assert a_sizer(0.1).size() == 140


def test_a_claim_keeps_within_its_bounds():
    assert a_sizer(0.0).size() == 1_000
    assert a_sizer(60.0).size() == 1  # idle lanes get theirs all the same: the dispatcher sees them
    assert a_sizer(0.1, claim_max=4).size() == 4
    assert a_sizer(60.0, concurrency=1, claim_min=3).size() == 3


def test_a_claim_shrinks_while_most_attempts_fail():
    sizer = a_sizer(0.1)
    for _ in range(40):
        sizer.ended(0.1, failed=True)
    assert sizer.size() == 35
    for _ in range(40):
        sizer.ended(0.1, failed=False)
    assert sizer.size() == 140


def test_a_claim_shrinks_while_the_machine_is_pressed():
    sizer = a_sizer(0.1)
    sizer.pressed(pressed=True)
    assert sizer.size() == 35
    sizer.pressed(pressed=False)
    assert sizer.size() == 140


@pytest.mark.parametrize(("item_s", "ttl_s"), [(None, 10), (1.0, 10), (60.0, 120), (999.0, 300)])
def test_a_silent_worker_is_given_twice_an_items_time(item_s: float | None, ttl_s: float):
    assert a_sizer(item_s).ttl_s() == ttl_s


@pytest.mark.parametrize(
    "bad", [{"claim_min": 5, "claim_max": 4}, {"lock_floor_s": 9.0, "lock_cap_s": 8.0}]
)
def test_claim_bounds_that_cross_are_refused(bad: dict[str, float]):
    with pytest.raises(ValueError, match="above"):
        ClaimPolicy(**bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "bad", [{"min_rows": 5, "max_rows": 4}, {"db_p50_ms": 9.0, "db_p95_ms": 8.0}]
)
def test_ingest_bounds_that_cross_are_refused(bad: dict[str, float]):
    with pytest.raises(ValueError, match="above"):
        IngestPolicy(**bad)  # type: ignore[arg-type]


def test_batches_double_while_the_database_keeps_up():
    sizer = IngestSizer(IngestPolicy(min_rows=100, max_rows=500))
    sizes = []
    for _ in range(4):
        sizer.committed(1.0)
        sizes.append(sizer.rows)
    assert sizes == [200, 400, 500, 500]
    assert sizer.latency_ms == pytest.approx(1.0)
    assert sizer.max_bytes == IngestPolicy().max_batch_bytes


def test_retries_get_a_smaller_share_of_claims_where_they_fail_again():
    sizer = ClaimSizer(ClaimPolicy(), 8)
    for _ in range(20):
        sizer.ended(0.1, failed=True, again=True)
    assert sizer.retry_share == 1 / 16, "too few to tell"
    for _ in range(10):
        sizer.ended(0.1, failed=True, again=True)
        sizer.ended(0.1, failed=False)
    assert sizer.retry_share == 1 / 64
    sizer.ended(0.1, failed=False, again=True)
    assert sizer.retry_share == 1 / 16, "a retry helps again"


def test_batches_stay_as_they_are_between_the_two_targets():
    sizer = IngestSizer(IngestPolicy(min_rows=100))
    sizer.committed(300.0)
    assert sizer.rows == 100


@pytest.mark.parametrize(("milliseconds", "waited"), [(600.0, False), (1.0, True)])
def test_batches_halve_when_the_database_does_not_keep_up(milliseconds: float, waited: bool):
    sizer = IngestSizer(IngestPolicy(min_rows=100))
    sizer.rows = 1_000
    sizer.committed(milliseconds, waited=waited)
    assert sizer.rows == 500


def test_a_refused_batch_is_quartered_but_never_below_the_floor():
    sizer = IngestSizer(IngestPolicy(min_rows=100))
    sizer.rows = 1_000
    sizer.failed()
    assert sizer.rows == 250
    sizer.failed()
    assert sizer.rows == 100
    assert sizer.latency_ms == 0.0
