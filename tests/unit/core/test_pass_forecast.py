"""The forecast of a pass follows from one page of each stream."""

import pytest

from headgate.core.pass_forecast import HEAD_BYTES, StreamFacts, forecast, seconds_for


def test_a_listing_needs_a_request_for_each_page_and_an_empty_one_needs_one():
    pages = forecast([StreamFacts("a", total=101, page_rows=10), StreamFacts("b", total=0)])
    assert [each.requests for each in pages] == [11, 1]


def test_each_row_with_details_needs_a_request_of_its_own():
    (found,) = forecast([StreamFacts("a", total=100, page_rows=10, has_detail=True)])
    assert found.requests == 110


def test_children_are_listed_for_each_row_of_their_parent():
    parent = StreamFacts("books", total=20, page_rows=10)
    child = StreamFacts("notes", "books", total=15, page_rows=10, row_bytes=50)
    found = forecast([parent, child])[1]
    assert (found.rows, found.requests) == (300, 40)
    assert found.bytes == 300 * (50 + HEAD_BYTES)


def test_what_the_source_does_not_say_stays_unknown_for_children_too():
    unknown = forecast([StreamFacts("books"), StreamFacts("notes", "books", total=1, page_rows=1)])
    assert [each.requests for each in unknown] == [None, None]


@pytest.mark.parametrize(("per_s", "seconds"), [(None, 10.0), (5.0, 20.0), (50.0, 10.0)])
def test_the_slower_of_the_limit_and_the_workers_decides_the_time(per_s, seconds):
    assert seconds_for(100, 2, 0.2, per_s) == seconds
