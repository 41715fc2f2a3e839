"""How long an answer is as good as new; the same as hishel says, where it can say so."""

from email.utils import formatdate
from unittest.mock import patch
from uuid import UUID

import hishel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.provider import CachePolicy
from headgate.net.cache.freshness import (
    Freshness,
    date_of,
    directives_of,
    freshness_of,
    is_fresh_for,
    seconds_of,
)
from headgate.net.cache.rules import PRIVATE

SECOND = 1_000_000
NOW_S = 1_800_000_000
NOW = NOW_S * SECOND
DAY = 24 * 3600


def date(ago_s):
    return formatdate(NOW_S - ago_s, usegmt=True)


PLAIN = CachePolicy()


def lifetime(policy=PLAIN, **fields):
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    born_at, fresh_until = freshness_of(named, NOW, policy)
    return (NOW - born_at) / SECOND, (fresh_until - NOW) / SECOND


@pytest.mark.parametrize(
    ("fields", "age", "left"),
    [
        ({"cache_control": "max-age=60"}, 0, 60),
        ({"cache_control": "max-age=60", "age": "10"}, 10, 50),
        ({"cache_control": "max-age=60", "date": date(20), "age": "10"}, 20, 40),
        ({"cache_control": "max-age=60", "date": date(5), "age": "10"}, 10, 50),
        ({"cache_control": "max-age=60", "date": date(-500)}, 0, 60),
        ({"cache_control": "max-age=60", "expires": date(9)}, 0, 60),
        ({"cache_control": "max-age=60, max-age=5"}, 0, 60),
        ({"cache_control": "max-age=soon"}, 0, 0),
        ({"cache_control": "max-age=-1"}, 0, 0),
        ({"cache_control": "no-cache, max-age=60"}, 0, 0),
        ({"cache_control": 'no-cache="set-cookie", max-age=60'}, 0, 60),
        ({"cache_control": "s-maxage=600, max-age=60"}, 0, 60),
        ({"cache_control": "max-age=99999999999999999999999999"}, 0, 2**31),
        ({"expires": date(-30)}, 0, 30),
        ({"expires": date(-30), "date": date(10)}, 10, 30),
        ({"expires": "0"}, 0, 0),
        ({"expires": date(30)}, 0, 0),
        ({"last_modified": date(10 * DAY)}, 0, DAY),
        ({"last_modified": date(1_000 * DAY)}, 0, 7 * DAY),
        ({"last_modified": date(-5)}, 0, 0),
        ({"last_modified": "yesterday"}, 0, 0),
        ({}, 0, 0),
    ],
)
def test_what_the_headers_say(fields, age, left):
    assert lifetime(**fields) == (age, left)


def test_a_default_applies_only_if_the_headers_say_nothing():
    policy = CachePolicy(default_ttl_s=2.5)
    assert lifetime(policy) == (0, 2.5)
    assert lifetime(policy, last_modified=date(10 * DAY)) == (0, 2.5)
    assert lifetime(policy, cache_control="max-age=60") == (0, 60)
    assert lifetime(policy, cache_control="max-age=0") == (0, 0)
    assert lifetime(policy, expires="0") == (0, 0)
    assert lifetime(policy, cache_control="no-cache") == (0, 0)


@pytest.mark.parametrize(
    ("told", "fresh"),
    [
        ("", True),
        ("no-cache", False),
        ("max-age=10", True),
        ("max-age=9", False),
        ("max-age", False),
        ("no-transform", True),
    ],
)
def test_a_request_may_ask_for_more(told, fresh):
    ten_seconds_old = Freshness(NOW - 10 * SECOND, NOW + SECOND)
    assert is_fresh_for(directives_of(told), ten_seconds_old, NOW) is fresh


def test_it_is_fresh_until_that_moment_and_not_at_it():
    freshness = Freshness(NOW, NOW + SECOND)
    assert is_fresh_for({}, freshness, NOW + SECOND - 1)
    assert not is_fresh_for({}, freshness, NOW + SECOND)


@given(st.text(max_size=40))
def test_any_header_of_a_server_can_be_read(text):
    directives_of(text)
    assert 0 <= seconds_of(text) <= 2**31
    assert date_of(text) is None or isinstance(date_of(text), int)


ages = st.integers(-100, 30 * DAY)
cache_controls = st.lists(
    st.sampled_from(
        ["max-age=0", "max-age=50", "max-age=100000", "no-cache", "private", "must-revalidate"]
    ),
    max_size=2,
    unique_by=lambda directive: directive.partition("=")[0],
).map(", ".join)


@given(
    cache_control=cache_controls,
    made_ago_s=st.integers(0, 1_000),
    expires_ago_s=st.none() | ages,
    passed_s=st.integers(0, 200_000),
)
def test_hishel_says_the_same(cache_control, made_ago_s, expires_ago_s, passed_s):
    """Explicit freshness only: its heuristic grows as an answer lies there, ours does not."""
    fields = {"date": date(made_ago_s), "cache-control": cache_control}
    if expires_ago_s is not None:
        fields["expires"] = date(expires_ago_s)
    ours = is_fresh_for({}, freshness_of(fields, NOW, PLAIN), NOW + passed_s * SECOND)
    request = hishel.Request("GET", "http://example.org/")
    known = hishel.Entry(UUID(int=0), request, hishel.Response(200, hishel.Headers(fields)))
    with patch("time.time", return_value=NOW_S + passed_s):
        state = hishel.IdleClient(options=PRIVATE).next(request, [known])
    assert ours is isinstance(state, hishel.FromCache)
