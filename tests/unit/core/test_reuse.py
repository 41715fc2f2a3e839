"""Spans of time as people write them, and what makes two items the same."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.reuse import digest_of, parse_span


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("15min", 900), ("1.5h", 5_400), (" 30 D ", 2_592_000), ("2w", 1_209_600)],
)
def test_spans(text: str, seconds: float):
    assert parse_span(text) == seconds


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "1 month", "1d2h", "0s", "1e9d", "9999w"])
def test_what_is_no_span_is_said(text: str):
    with pytest.raises(ValueError, match="is not a span of time: "):
        parse_span(text)


@given(st.dictionaries(st.text(), st.text() | st.integers(-(2**53), 2**53) | st.none()))
def test_the_order_of_members_and_the_form_make_no_difference(data):
    backwards = dict(reversed(data.items()))
    assert digest_of("h", "1", data) == digest_of("h", "1", backwards)
    assert digest_of("h", "1", json.dumps(backwards)) == digest_of("h", "1", data)


def test_handler_version_and_input_all_matter():
    digests = {
        digest_of(handler, version, data)
        for handler in ("h", "h1")
        for version in ("", "1")
        for data in ({}, {"a": 1}, {"a": "1"}, {"a": None})
    }
    assert len(digests) == 16
    assert {len(digest) for digest in digests} == {32}
