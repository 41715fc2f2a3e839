"""How fast, and how much longer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.engine.eta import (
    DASH,
    Band,
    HoldPeriod,
    Meter,
    Sample,
    band_in_words,
    eta_band,
    quantile,
    rate_now,
)


def steady(rate: float, seconds: int) -> list[Sample]:
    return [Sample(float(second), int(rate * second)) for second in range(seconds)]


def test_a_steady_rate_gives_a_narrow_band():
    band = eta_band(steady(10, 30), 600)
    assert band == Band(pytest.approx(60), pytest.approx(60))


def then(samples: list[Sample], rate: float, seconds: int) -> list[Sample]:
    """The samples, followed by `seconds` at another rate."""
    at_s, finished = samples[-1]
    more = [Sample(at_s + s, finished + int(rate * s)) for s in range(1, seconds + 1)]
    return [*samples, *more]


def test_the_rate_now_is_that_of_the_last_seconds():
    assert rate_now(steady(10, 60)) == pytest.approx(10)
    assert rate_now(then(steady(10, 30), 80, 5)) == pytest.approx(80)
    assert rate_now(then(steady(80, 30), 8, 5)) == pytest.approx(8)
    assert rate_now(then(steady(80, 30), 0, 5)) == 0, "it stands still"


def test_the_rate_of_a_slow_job_is_that_of_its_last_items():
    slow = [Sample(float(second), second // 12) for second in range(61)]
    assert rate_now(slow) == pytest.approx(1 / 12, rel=0.05)
    assert rate_now(slow[:-1]) == pytest.approx(1 / 12, rel=0.25), "also between two of them"


def test_the_estimate_agrees_with_the_rate_now():
    band = eta_band(then(steady(46, 40), 8.5, 20), 1_354)
    assert band is not None
    assert band.high_s is not None
    assert band.low_s <= 1_354 / 8.5 <= band.high_s + 1
    assert band.low_s > 100


def test_the_estimate_after_a_closed_gate_forgets_the_pace_before_it():
    samples = then(then(steady(46, 30), 0, 15), 8.5, 6)
    band = eta_band(samples, 1_354)
    assert band is not None
    assert band.low_s == pytest.approx(1_354 / 8.5, rel=0.05)
    assert band.high_s is not None
    assert band.high_s <= 3.1 * 1_354 / 8.5


def test_a_closed_gate_adds_its_time_and_leaves_the_upper_end_open():
    samples = then(steady(46, 30), 0, 15)
    assert eta_band(samples, 460, HoldPeriod(25.0)) == Band(pytest.approx(25 + 10, rel=0.05), None)
    known = eta_band(samples, 850, HoldPeriod(25.0, 8.5))
    assert known == Band(pytest.approx(25 + 100), None)
    assert eta_band([], 850, HoldPeriod(25.0)) == Band(25.0, None)


@pytest.mark.parametrize("held", [None, HoldPeriod(1.0), HoldPeriod(0.0, 30.0)])
def test_a_fast_beginning_does_not_shorten_the_rest_of_a_job_that_waits(held: HoldPeriod | None):
    """480 rows at 22/s after a fast start: it said "over 1 s left"."""
    band = eta_band(then(steady(400, 20), 22, 20), 480, held)
    assert band_in_words(band) == f"21{DASH}22 s"


def test_the_pace_before_a_wait_is_that_of_its_last_seconds():
    samples = then(then(steady(400, 20), 22, 20), 0, 3)
    band = eta_band(samples, 480, HoldPeriod(25.0))
    assert band == Band(pytest.approx(25 + 480 / 22, rel=0.1), None)


@given(
    st.floats(0.5, 500),
    st.integers(12, 60),
    st.integers(1, 100_000),
    st.none() | st.floats(0, 5).map(HoldPeriod),
)
def test_the_band_of_a_steady_rate_has_the_time_at_that_rate(
    rate: float, seconds: int, remaining: int, held: HoldPeriod | None
):
    band = eta_band(steady(rate, seconds), remaining, held)
    assert band is not None
    # A sample counts whole rows, so a rate of few rows is known only by one row.
    inexact = 1 + 2 / (rate * 5)
    assert band.low_s <= remaining / rate * inexact
    assert band.high_s is not None
    assert band.high_s >= remaining / rate / inexact


def test_a_changing_rate_gives_a_band_around_the_rate_now():
    samples = steady(10, 30)
    for second in range(30, 60):
        more = 10 if second % 20 < 10 else 20
        samples.append(Sample(float(second), samples[-1].finished + more))
    band = eta_band(samples, 1_000)
    assert band is not None
    assert band.high_s is not None
    now = rate_now(samples)
    assert now is not None
    assert band.low_s <= 1_000 / now <= band.high_s
    assert band.high_s <= 3 * 1_000 / now


def test_there_is_no_estimate_before_the_first_progress():
    assert eta_band([], 10) is None
    assert eta_band([Sample(0.0, 0)], 10) is None
    assert eta_band([Sample(0.0, 0), Sample(1.0, 2)], 10) is None, "too young"
    assert eta_band([Sample(float(second), 5) for second in range(10)], 10) is None


def test_a_job_with_no_rows_left_takes_no_time():
    assert eta_band([], 0) == Band(0.0, 0.0)


def test_a_stalled_stretch_leaves_the_upper_end_open():
    samples = [*steady(10, 12), *(Sample(float(second), 110) for second in range(12, 60))]
    band = eta_band(samples, 100)
    assert band is not None
    assert band.high_s is None


@given(
    st.lists(st.tuples(st.floats(0.1, 5), st.integers(0, 50)), max_size=40),
    st.integers(0, 10_000),
)
def test_a_band_is_never_upside_down(steps: list[tuple[float, int]], remaining: int):
    samples = [Sample(0.0, 0)]
    for seconds, finished in steps:
        samples.append(Sample(samples[-1].at_s + seconds, samples[-1].finished + finished))
    band = eta_band(samples, remaining)
    if band is not None and band.high_s is not None:
        assert 0 <= band.low_s <= band.high_s * (1 + 1e-9)


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0, 1))
def test_a_quantile_is_between_the_smallest_and_the_largest_value(
    values: list[float], share: float
):
    ordered = sorted(values)
    assert ordered[0] <= quantile(ordered, share) <= ordered[-1]


@pytest.mark.parametrize(
    ("band", "words"),
    [
        (None, "?"),
        (Band(0.0, 0.0), "about 1 s"),
        (Band(12.2, 14.8), f"12{DASH}15 s"),
        (Band(40.0, 40.0), "about 40 s"),
        (Band(100.0, 119.0), f"100{DASH}119 s"),
        (Band(125.0, 170.0), f"2{DASH}3 min"),
        (Band(45.0, 130.0), "under 3 min"),
        (Band(3_700.0, 9_000.0), f"1{DASH}3 h"),
        (Band(90_000.0, 250_000.0), f"1{DASH}3 d"),
        (Band(300.0, None), "over 5 min"),
    ],
)
def test_a_band_in_words(band: Band | None, words: str):
    assert band_in_words(band) == words


def test_the_meter_keeps_samples_a_second_apart():
    meter = Meter()
    for tick in range(41):
        meter.add(tick * 0.25, tick)
    assert [sample.at_s for sample in meter.samples] == [float(second) for second in range(11)]
    assert meter.rate() == pytest.approx(4.0)
    assert meter.eta(40) == Band(pytest.approx(10), pytest.approx(10))


def test_the_meter_forgets_what_is_older_than_a_minute():
    meter = Meter()
    for second in range(200):
        meter.add(float(second), 0 if second < 100 else (second - 100) * 7)
    assert meter.rate() == pytest.approx(7.0)
    assert meter.rate_over(30.0) == pytest.approx(7.0)
    assert meter.rate_over(90.0) is None


def test_a_new_meter_has_no_rate():
    meter = Meter()
    assert meter.rate() is None
    meter.add(0.0, 5)
    assert meter.rate() is None


def test_reprocessed_items_do_not_make_a_negative_rate():
    meter = Meter()
    meter.add(0.0, 100)
    meter.add(1.0, 50)
    assert meter.rate() == 0.0
