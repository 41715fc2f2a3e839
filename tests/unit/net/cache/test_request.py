"""Which requests the cache answers, and which it never mixes up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.net.cache.request import cache_request, variant_of
from headgate.ports.wire import WireRequest

URL = "https://example.org/a?b=c"
TEXT = st.text(st.characters(exclude_characters="#"), max_size=6)
WHO = st.tuples(TEXT, TEXT, st.booleans(), TEXT)


def demand(url=URL, *, method="GET", partition="ann", guarded=False, body=None, **headers):
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return cache_request(WireRequest(method, url, named, body, guarded=guarded), partition)


def key(*words, **options):
    return demand(*words, **options).key


def test_the_same_request_has_the_same_key():
    assert key(accept="a", user_agent="b") == key(user_agent="c")
    assert key(URL + "#part") == key()


@pytest.mark.parametrize(
    "other",
    [
        {"partition": "bob"},
        {"method": "HEAD"},
        {"guarded": True},
        {"url": URL + "d"},
        {"authorization": "Bearer x"},
        {"proxy_authorization": "Basic x"},
        {"cookie": "a=b"},
        {"x_api_key": "x"},
        {"x_auth_token": "x"},
        {"ocp_apim_subscription_key": "x"},
    ],
)
def test_everything_that_may_change_the_answer_changes_the_key(other):
    assert key(**other) != key()


def test_another_secret_has_another_key():
    assert key(authorization="Bearer ann") != key(authorization="Bearer bob")
    assert "bob" not in key(authorization="bob")


def asked_by(who):
    partition, url, guarded, secret = who
    request = WireRequest("GET", url, (("authorization", secret),), guarded=guarded)
    return cache_request(request, partition).key


@given(WHO, WHO)
def test_no_text_can_pose_as_another_partition(one, other):
    assert (asked_by(one) == asked_by(other)) == (one == other)


def test_no_part_can_be_continued_into_the_next():
    assert key("a", partition="bc") != key("ca", partition="b")
    assert key("a13 cookie:b=c") != key("a", cookie="b=c")


@pytest.mark.parametrize(
    "other",
    [
        {"method": "POST"},
        {"method": "OPTIONS"},
        {"body": b""},
        {"range": "bytes=0-1"},
        {"if_none_match": '"1"'},
        {"if_modified_since": "x"},
    ],
)
def test_what_the_cache_has_no_part_in(other):
    assert demand(**other) is None


def test_directives_are_read_from_all_their_lines():
    headers = (("cache-control", "No-Cache"), ("cache-control", 'max-age="5", x=y'))
    told = cache_request(WireRequest("GET", URL, headers), "ann").directives
    assert told == {"no-cache": None, "max-age": "5", "x": "y"}


def test_a_variant_depends_only_on_the_headers_that_vary_names():
    german = [("accept-language", "de"), ("accept", "x")]
    assert variant_of("", german) == ""
    assert variant_of("accept-language", german) == variant_of("accept-language", german[:1])
    assert variant_of("accept-language", german) != variant_of("accept-language", [])
    assert variant_of("accept,accept-language", german) != variant_of("accept", german)
