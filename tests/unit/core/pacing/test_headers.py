"""What replies say about limits, in the words of different providers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.core.pacing.headers import Quota, read_quota, read_retry_after

NOW = 1_800_000_000.0  # Fri, 15 Jan 2027 08:00:00 GMT


@pytest.mark.parametrize(
    ("headers", "quota"),
    [
        (
            {"ratelimit-policy": '"default";q=100;w=60', "ratelimit": '"default";r=30;t=12'},
            Quota(100, 60, 30, 12),
        ),
        (
            {"ratelimit-policy": "100;w=60", "ratelimit": "limit=100, remaining=3, reset=7"},
            Quota(100, 60, 3, 7),
        ),
        (
            {
                "ratelimit-policy": '"burst";q=10;w=1, "daily";q=1000;w=86400',
                "ratelimit": '"daily";r=999;t=80000',
            },
            Quota(1000, 86400, 999, 80000),
        ),
        (
            {"ratelimit-limit": "50", "ratelimit-remaining": "49", "ratelimit-reset": "30"},
            Quota(50, None, 49, 30),
        ),
        (
            {
                "x-ratelimit-limit": "5000",
                "x-ratelimit-remaining": "4999",
                "x-ratelimit-reset": str(int(NOW) + 600),
            },
            Quota(5000, None, 4999, 600),
        ),
        (
            {
                "x-rate-limit-limit": "15",
                "x-rate-limit-remaining": "0",
                "x-rate-limit-reset": "900",
            },
            Quota(15, None, 0, 900),
        ),
        (
            {"x-ratelimit-limit": "100, 100;w=60", "x-ratelimit-remaining": "5"},
            Quota(100, 60, 5, None),
        ),
        ({"content-type": "text/html"}, None),
    ],
)
def test_every_dialect_is_read(headers: dict[str, str], quota: Quota | None):
    assert read_quota(headers, NOW) == quota


def test_a_reset_in_the_past_is_now():
    told = read_quota({"x-ratelimit-remaining": "1", "x-ratelimit-reset": "1500000000"}, NOW)
    assert told == Quota(None, None, 1, 0)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        ("0", 0),
        ("-5", -5),
        ("31536000", 31_536_000),
        ("Fri, 15 Jan 2027 08:02:00 GMT", 120),
        ("Fri, 15 Jan 2027 07:59:00 GMT", -60),
        ("soon", None),
        ("", None),
        ("nan", None),
        ("Fri, 99 Foo 2027", None),
    ],
)
def test_retry_after_is_a_number_or_a_date(text: str, seconds: float | None):
    assert read_retry_after({"retry-after": text}, NOW) == seconds


def test_a_date_is_compared_with_the_clock_of_the_one_who_sent_it():
    headers = {
        "retry-after": "Fri, 15 Jan 2027 09:00:30 GMT",
        "date": "Fri, 15 Jan 2027 09:00:00 GMT",
    }
    assert read_retry_after(headers, NOW) == 30


NAMES = st.sampled_from(
    [
        "retry-after",
        "date",
        "ratelimit",
        "ratelimit-policy",
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
    ]
)
RUBBISH = st.one_of(
    st.text(max_size=40), st.from_regex(r'"?[a-z]*"?;[qwrt]=[-0-9.e+]*', fullmatch=True)
)


@given(st.dictionaries(NAMES, RUBBISH))
@settings(deadline=None)
def test_rubbish_is_read_as_nothing_much(headers: dict[str, str]):
    read_quota(headers, NOW)
    read_retry_after(headers, NOW)
