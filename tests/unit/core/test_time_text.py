"""Times and spans of time as text."""

import pytest

from headgate.core.time_text import moment, parse_span


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("15min", 900),
        ("5m", 300),
        ("1.5h", 5_400),
        (" 30 D ", 2_592_000),
        ("2w", 1_209_600),
    ],
)
def test_spans(text: str, seconds: float):
    assert parse_span(text) == seconds


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "1 month", "1d2h", "0s", "1e9d", "9999w"])
def test_an_invalid_time_span_is_reported(text: str):
    with pytest.raises(ValueError, match="is not a span of time"):
        parse_span(text)


def test_a_moment_has_microseconds_and_names_utc():
    assert moment(1_700_000_000_123_456) == "2023-11-14T22:13:20.123456Z"


@pytest.mark.parametrize("unknown", [None, 0])
def test_a_time_that_is_not_known_has_no_text(unknown: int | None):
    assert moment(unknown) is None
