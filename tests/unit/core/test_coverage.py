"""Spans of pages: a listing is covered exactly if no key is outside of all of them."""

from hypothesis import given
from hypothesis import strategies as st

from headgate.core.coverage import (
    Gap,
    LinkedPage,
    Span,
    gaps_between,
    gaps_in_links,
    repair_offsets,
)

BOUND = st.none() | st.integers(0, 20)


@st.composite
def spans(draw: st.DrawFn) -> Span:
    low, high = draw(BOUND), draw(BOUND)
    if low is not None and high is not None and low > high:
        low, high = high, low
    return Span(low, high)


def is_inside(key: float, span: Span) -> bool:
    above = span.low is None or key >= span.low
    return above and (span.high is None or key <= span.high)


@given(st.lists(spans(), max_size=8))
def test_no_gap_is_found_exactly_if_every_key_is_in_a_span(pages):
    # Halves stand for keys between two keys: a row may be inserted there at any time.
    keys = [number / 2 for number in range(-2, 44)]
    outside = [key for key in keys if not any(is_inside(key, page) for page in pages)]
    assert (gaps_between(pages) == []) == (outside == [])


@given(st.lists(spans(), max_size=8))
def test_gaps_lie_outside_of_every_span(pages):
    for gap in gaps_between(pages):
        low = -5.0 if gap.low is None else gap.low
        high = 45.0 if gap.high is None else gap.high
        middle = (low + high) / 2
        assert not any(is_inside(middle, page) for page in pages)


def test_a_gap_knows_about_where_it_is():
    pages = [Span(None, 10, 0, 5), Span(20, None, 7, 12)]
    assert gaps_between(pages) == [Gap(10, 20, 5, 7)]
    assert gaps_between([]) == [Gap(None, None, 0, 0)]
    assert gaps_between([Span(None, 10, 0, 5)]) == [Gap(10, None, 5, 5)]


def linked(keys: str, begin: int, lasts: str, *, ends: bool = False) -> LinkedPage:
    contains = frozenset(keys) & frozenset(lasts)
    return LinkedPage(keys[-1:], contains, begin == 0, ends, begin, begin + len(keys))


def test_pages_that_share_a_row_continue_each_other_in_any_order():
    pages = [linked("efg", 4, "ceg", ends=True), linked("abc", 0, "ceg"), linked("cde", 2, "ceg")]
    assert gaps_in_links(pages) == []


def test_every_gap_between_linked_pages_is_found():
    pages = [linked("abc", 0, "cfi"), linked("def", 3, "cfi"), linked("ghi", 6, "cfi", ends=True)]
    found = gaps_in_links(pages)
    assert [(gap.begin, gap.end) for gap in found] == [(3, 3), (6, 6)]


def test_a_listing_without_an_end_has_a_gap_behind_its_last_page():
    assert [gap.begin for gap in gaps_in_links([linked("abc", 0, "c")])] == [3]
    assert [gap.begin for gap in gaps_in_links([])] == [0]


def test_an_empty_listing_is_complete():
    assert gaps_in_links([LinkedPage("", frozenset(), begins=True, ends=True)]) == []


@given(st.integers(0, 500), st.integers(0, 200), st.integers(2, 50), st.integers(1, 3))
def test_repairs_cover_the_gap_and_its_sides(begin, width, size, wide):
    gap = Gap(None, None, begin, begin + width)
    step = size - 1
    offsets = repair_offsets(gap, size, step, wide)
    asked = {row for offset in offsets for row in range(offset, offset + size)}
    assert set(range(max(begin - size, 0), begin + width + 1)) <= asked
