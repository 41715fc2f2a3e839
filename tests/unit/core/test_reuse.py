"""What makes two items the same."""

import json

from hypothesis import given
from hypothesis import strategies as st

from headgate.core.reuse import digest_of


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
