"""Limits are read as people write them."""

import pytest

from headgate.core.rate import Limit, parse_limits


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("", ()),
        ("  ", ()),
        ("5/s", (Limit(5, 1),)),
        ("10/s, 100/min", (Limit(10, 1), Limit(100, 60))),
        ("1/3s", (Limit(1, 3),)),
        ("0.5 / Second", (Limit(0.5, 1),)),
        ("90000/minute", (Limit(90_000, 60),)),
        ("2000/h", (Limit(2_000, 3_600),)),
        ("100000/day", (Limit(100_000, 86_400),)),
        ("1/2.5 min", (Limit(1, 150),)),
    ],
)
def test_a_limit_is_a_count_and_a_span(text: str, limits: tuple[Limit, ...]):
    assert parse_limits(text) == limits


@pytest.mark.parametrize(
    "text",
    ["5", "5 per s", "/s", "-1/s", "5/fortnight", "5/s,", "0/s", "1/0s", "1e9/s", "5/400day"],
)
def test_what_is_not_a_limit_is_refused_with_an_example(text: str):
    with pytest.raises(ValueError, match=r"is not a limit: "):
        parse_limits(text)
