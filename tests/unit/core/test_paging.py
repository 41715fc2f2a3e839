"""Cursors come back as they were given, or are refused."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.errors import BadCursor
from headgate.core.paging import Cursor, Order, decode_cursor, encode_cursor, filter_hash

HERE = filter_hash(1, ["ERROR"])


@given(st.sampled_from(Order), st.integers(0, 2**53), st.integers(0, 2**62))
def test_a_cursor_survives_its_trip(order, updated_at, item_id):
    cursor = Cursor(order, HERE, updated_at, item_id)
    assert decode_cursor(encode_cursor(cursor), order, HERE) == cursor


@given(st.text(max_size=60))
def test_garbage_is_refused_and_never_crashes(text):
    with pytest.raises(BadCursor):
        decode_cursor(text, Order.INPUT, HERE)


@pytest.mark.parametrize(
    ("order", "name"), [(Order.UPDATED, HERE), (Order.INPUT, filter_hash(2, ["ERROR"]))]
)
def test_a_cursor_of_another_query_is_refused(order, name):
    text = encode_cursor(Cursor(Order.INPUT, HERE, 1, 2))
    with pytest.raises(BadCursor, match="another query"):
        decode_cursor(text, order, name)


def test_a_cursor_cannot_be_forged_out_of_plain_json():
    forged = base64.urlsafe_b64encode(b'["input", 5, "x", null]').decode()
    with pytest.raises(BadCursor):
        decode_cursor(forged, Order.INPUT, HERE)
