"""A cursor is bound to its query, and damage never passes for a position."""

import pytest

from headgate.core.errors import BadCursor
from headgate.core.paging import Cursor, SortOrder, decode_cursor, encode_cursor, filter_hash

NAME = filter_hash(1, ["DONE"])
CURSOR = Cursor(SortOrder.UPDATED, NAME, 1_800_000_000_000_000, 42)


def test_a_cursor_comes_back_as_it_was():
    assert decode_cursor(encode_cursor(CURSOR), SortOrder.UPDATED, NAME) == CURSOR


def test_a_cursor_is_safe_in_an_address():
    assert encode_cursor(CURSOR).replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize(
    ("order", "name"), [(SortOrder.INPUT, NAME), (SortOrder.UPDATED, filter_hash(2, ["DONE"]))]
)
def test_a_cursor_of_another_query_is_refused(order: SortOrder, name: str):
    with pytest.raises(BadCursor, match="another query"):
        decode_cursor(encode_cursor(CURSOR), order, name)


@pytest.mark.parametrize(
    "text", ["", "x", "!!!!", "größer", "AAAA", encode_cursor(CURSOR)[:-3], "bnVsbA", "W10"]
)
def test_a_damaged_cursor_is_refused(text: str):
    with pytest.raises(BadCursor):
        decode_cursor(text, SortOrder.UPDATED, NAME)


def test_a_filter_has_one_name_and_another_filter_another():
    assert filter_hash(1, ["A"]) == filter_hash(1, ["A"])
    assert len({filter_hash(1, ["A"]), filter_hash(1, ["B"]), filter_hash("1", ["A"])}) == 3
