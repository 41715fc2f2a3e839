"""What may be kept, and what a 304 means: hishel's word, asked in our way."""

import subprocess
import sys

import hishel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.net.cache.entry import CacheEntry, packed, unpacked
from headgate.net.cache.freshness import Freshness
from headgate.net.cache.rules import (
    PRIVATE,
    FetchAgain,
    NotStorable,
    StillValid,
    Storable,
    conditional,
    judge_reply,
    judge_revalidation,
)
from headgate.ports.wire import WireRequest

GET = WireRequest("GET", "https://example.org/", (("accept", "x"),))


def entry(*headers):
    return CacheEntry(
        key="",
        variant="",
        vary="",
        url="",
        status=200,
        head=packed(headers),
        freshness=Freshness(0, 0),
        used_at=0,
        size=0,
        body=b"",
        blob=None,
    )


def test_hop_by_hop_headers_and_named_ones_are_not_kept():
    kept = [("cache-control", 'no-cache="X-Once", max-age=5'), ("etag", "1"), ("etag", "2")]
    gone = [("connection", "close"), ("transfer-encoding", "chunked"), ("x-once", "now")]
    assert judge_reply(GET, 200, [*gone, *kept]) == Storable(tuple(kept))


def test_nothing_is_lost_where_nothing_must_be():
    headers = [("date", "x"), ("set-cookie", "a"), ("set-cookie", "b")]
    assert judge_reply(GET, 200, headers) == Storable(headers)


fields = st.sampled_from(
    [
        ("cache-control", "no-store"),
        ("cache-control", "max-age=5"),
        ("cache-control", "private"),
        ("cache-control", "public"),
        ("cache-control", 'no-cache="etag"'),
        ("expires", "x"),
        ("expires", "Fri, 01 Jan 2027 00:00:00 GMT"),
        ("etag", '"1"'),
        ("last-modified", "x"),
        ("connection", "close"),
        ("vary", "accept"),
        ("authorization", "x"),
    ]
)


@given(
    method=st.sampled_from(["GET", "HEAD"]),
    status=st.sampled_from([200, 203, 204, 206, 301, 302, 304, 404, 410, 429, 500, 503]),
    headers=st.lists(fields, max_size=5),
)
def test_what_is_remembered_is_what_hishel_says_of_the_whole_answer(method, status, headers):
    lists = {name: [value for each, value in headers if each == name] for name, _ in headers}
    known = hishel.Response(status, hishel.Headers(lists))
    asked = hishel.Request(method, "https://example.org/")
    state = hishel.CacheMiss(options=PRIVATE, request=asked).next(known)
    verdict = judge_reply(WireRequest(method, "https://example.org/"), status, headers)
    if isinstance(state, hishel.StoreAndUse):
        assert isinstance(verdict, Storable)
        assert {name for name, _ in verdict.headers} == set(state.response.headers)
    else:
        assert verdict == NotStorable()


@given(st.integers(200, 599), st.lists(st.tuples(st.text(max_size=8), st.text(max_size=20))))
def test_no_answer_is_too_strange_to_be_judged(status, headers):
    judge_reply(GET, status, headers)
    judge_revalidation(GET, status, headers, entry(("etag", "1")))


def test_a_304_brings_newer_headers():
    stale = entry(("etag", '"1"'), ("content-type", "text/plain"), ("x-old", "yes"))
    answer = [("etag", '"1"'), ("content-type", "text/html"), ("x-new", "yes")]
    verdict = judge_revalidation(GET, 304, answer, stale)
    assert isinstance(verdict, StillValid)
    assert dict(verdict.headers) == {
        "etag": '"1"',
        "content-type": "text/plain",
        "x-old": "yes",
        "x-new": "yes",
    }


@pytest.mark.parametrize(
    ("ours", "theirs", "holds"),
    [
        ("etag", "etag", True),
        ("etag", None, True),
        ("last-modified", "last-modified", True),
        ("last-modified", "etag", False),
    ],
)
def test_a_304_must_match_the_stored_answer(ours, theirs, holds):
    answer = [(theirs, '"1"')] if theirs else []
    verdict = judge_revalidation(GET, 304, answer, entry((ours, '"1"')))
    assert isinstance(verdict, StillValid) is holds
    assert isinstance(verdict, FetchAgain) is not holds


def test_a_304_with_another_tag_is_about_something_else():
    stale = entry(("etag", '"1"'))
    assert judge_revalidation(GET, 304, [("etag", '"2"')], stale) == FetchAgain()


def test_any_other_answer_is_handled_like_one_to_an_unconditional_request():
    stale = entry(("etag", '"1"'))
    assert judge_revalidation(GET, 503, [], stale) == NotStorable()
    assert judge_revalidation(GET, 200, [("etag", '"2"')], stale) == Storable([("etag", '"2"')])


def test_conditions_stand_behind_what_was_asked():
    stale = entry(("etag", '"1"'), ("last-modified", "then"))
    assert conditional(GET, stale).headers == (
        ("accept", "x"),
        ("if-none-match", '"1"'),
        ("if-modified-since", "then"),
    )


names = st.text(st.characters(codec="ascii", categories=["Ll"]), min_size=1)
values = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))


@given(st.lists(st.tuples(names, values)).map(tuple))
def test_headers_come_back_as_they_were(headers):
    assert unpacked(packed(headers)) == headers


def test_a_line_break_does_not_create_a_header():
    assert unpacked(packed([("a", "b\nset-cookie:c")])) == (("a", "b set-cookie:c"),)
    assert unpacked(packed([("a", b"f\xfcr".decode(errors="surrogateescape"))])) == (
        ("a", "f\udcfcr"),
    )


LOOK = """
import sys
import headgate.net.cache.rules
print("redis" in sys.modules)
import redis
print(redis.__name__, sys.modules["redis"] is redis)
"""


def test_the_rules_of_caching_bring_no_redis_along_and_leave_it_to_others():
    said = subprocess.run(
        [sys.executable, "-c", LOOK], capture_output=True, text=True, check=True, timeout=60
    )
    assert said.stdout.split() == ["False", "redis", "True"]
