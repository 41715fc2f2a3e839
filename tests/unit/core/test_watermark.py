"""Stamps are compared by what they mean, and a pass begins at or before the last one."""

import pytest

from headgate.core.ordering import Compare, position, time_text
from headgate.core.watermark import newest, since, stamp_of_date, stamp_text


@pytest.mark.parametrize(
    ("stamps", "expected"),
    [
        ([], None),
        ([None, ""], None),
        (["9", "10"], "10"),
        (["1.5", "1.25"], "1.5"),
        (["2026-01-01T00:00:00Z", None, "2026-01-01T01:30:00+02:00"], "2026-01-01T00:00:00Z"),
        (["b", "a"], "b"),
    ],
)
def test_the_newest_stamp(stamps, expected):
    assert newest(stamps) == expected


@pytest.mark.parametrize(
    ("watermark", "lag", "expected"),
    [
        ("2026-01-02T03:04:05Z", 0, "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05Z", "5m", "2026-01-02T02:59:05Z"),
        ("2026-01-02T03:04:05", "5m", "2026-01-02T02:59:05"),
        ("2026-01-02T03:04:05.250000Z", 60.0, "2026-01-02T03:03:05.250000Z"),
        ("2026-01-02T03:04:05+01:00", "1h", "2026-01-02T01:04:05Z"),
        ("1700000000", 60.0, "1699999940"),
        ("1700000000", "1m", "1699999940"),
        ("1.5", 0.25, "1.25"),
    ],
)
def test_a_pass_begins_at_the_watermark_less_the_lag(watermark, lag, expected):
    assert since(watermark, lag) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("x", "x"), ("", None), (None, None), (5, "5"), (1.5, "1.5"), (True, None), ([], None)],
)
def test_a_stamp_is_kept_as_text(value, expected):
    assert stamp_text(value) == expected


@pytest.mark.parametrize(
    ("value", "compare", "expected"),
    [
        (5, Compare.NUMBER, 5),
        ("12", Compare.NUMBER, 12),
        ("1.5", Compare.NUMBER, 1.5),
        (1.5, Compare.NUMBER, 1.5),
        ("1970-01-01T00:00:01Z", Compare.TIME, 1_000_000),
        (2, Compare.TIME, 2_000_000),
        ("a", Compare.TEXT, "a"),
        (7, Compare.TEXT, "7"),
    ],
)
def test_a_key_has_a_place_in_its_order(value, compare, expected):
    assert position(value, compare) == expected


@pytest.mark.parametrize(
    ("value", "compare"),
    [
        (True, Compare.NUMBER),
        ("x", Compare.NUMBER),
        ("nan", Compare.NUMBER),
        (float("inf"), Compare.NUMBER),
        ([], Compare.NUMBER),
        ("yesterday", Compare.TIME),
        (None, Compare.TEXT),
    ],
)
def test_a_key_without_a_place_is_refused(value, compare):
    with pytest.raises(ValueError, match=r"."):
        position(value, compare)


def test_times_are_sent_as_sources_read_them():
    assert time_text(1_500_000, unix=True) == 1
    assert time_text(1_000_000, unix=False) == "1970-01-01T00:00:01Z"
    assert time_text(1_500_000, unix=False) == "1970-01-01T00:00:01.500000Z"


def test_the_date_of_a_reply_is_a_stamp():
    assert stamp_of_date("Fri, 02 Jan 2026 03:04:05 GMT") == "2026-01-02T03:04:05Z"
    assert stamp_of_date("Fri, 02 Jan 2026 05:04:05 +0200") == "2026-01-02T03:04:05Z"
    for header in ("", "yesterday"):
        with pytest.raises(ValueError, match=r"."):
            stamp_of_date(header)
