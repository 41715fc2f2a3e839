"""Rows that fail while a job runs."""

from random import Random

import pytest

from headgate.core.failing import (
    RowFailure,
    all_alike,
    error_limit,
    most_frequent,
    spread_places,
    waiting_in_words,
)

BUG = RowFailure("transient", "KeyError: 'nick'", "lookup.py:12")
ENDED = RowFailure("transient", "KeyError: 'nick'", "lookup.py:12", ended=True)
OTHER = RowFailure("timeout", "ran longer than 6 s")


def test_rows_that_wait_are_counted_with_their_message_and_line():
    assert waiting_in_words([BUG] * 10) == (
        "10 rows failed and wait for a retry: KeyError: 'nick' (lookup.py:12)"
    )
    assert waiting_in_words([BUG, ENDED]) == (
        "1 row failed and waits for a retry: KeyError: 'nick' (lookup.py:12)"
    )
    assert waiting_in_words([ENDED]) == ""
    assert waiting_in_words([BUG] * 3, more=True).startswith("3+ rows failed")


def test_the_most_frequent_kind_is_the_example():
    assert most_frequent([OTHER, BUG, BUG]) == BUG
    assert waiting_in_words([OTHER, BUG, BUG]) == (
        "3 rows failed and wait for a retry: KeyError: 'nick' (lookup.py:12)"
        " and 1 other kind of failure"
    )


def test_only_the_first_line_of_a_long_message_is_shown():
    words = RowFailure("transient", f"ValueError: {'x' * 900}\nsecond line").in_words()
    assert len(words) == 200
    assert "second" not in words


@pytest.mark.parametrize(
    ("failures", "succeeded", "rows", "found"),
    [
        ([BUG] * 20, 0, 1_000, True),
        ([BUG, ENDED] * 10, 0, 1_000, True),
        ([BUG] * 19, 0, 1_000, False),
        ([BUG] * 30, 1, 1_000, False),
        ([BUG] * 19 + [OTHER], 0, 1_000, False),
        ([BUG] * 10, 0, 10, True),
        ([BUG] * 9, 0, 10, False),
        ([BUG], 0, 1, False),
    ],
)
def test_the_first_rows_fail_alike(failures, succeeded, rows, found):
    assert (all_alike(failures, succeeded, rows) is not None) == found


@pytest.mark.parametrize(
    ("text", "failed", "tried", "rows", "reached"),
    [
        ("10", 9, 500, 1_000, False),
        ("10", 10, 10, 1_000, True),
        ("1", 1, 1, 1_000, True),
        ("5%", 19, 19, 1_000, False),
        ("5%", 1, 20, 1_000, True),
        ("5%", 49, 1_000, 1_000, False),
        ("5%", 50, 1_000, 1_000, True),
        ("2.5 %", 1, 40, 1_000, True),
        ("100%", 4, 4, 4, True),
        ("5%", 0, 100, 1_000, False),
    ],
)
def test_too_many_rows_fail(text, failed, tried, rows, reached):
    assert error_limit(text).reached(failed, tried, rows) == reached


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "0%", "101%", "lots", "5 percent"])
def test_a_limit_that_is_invalid_is_refused(text):
    with pytest.raises(ValueError, match="such as 10, or a share of them such as 5%"):
        error_limit(text)


@pytest.mark.parametrize(("rows", "wanted"), [(1, 1), (7, 3), (1_000, 20), (10, 10), (3, 8)])
def test_a_sample_is_spread_and_always_the_same(rows, wanted):
    places = spread_places(rows, wanted, Random(1))
    assert places == spread_places(rows, wanted, Random(1))
    assert len(places) == len(set(places)) == min(rows, wanted)
    assert places == sorted(places)
    assert all(1 <= place <= rows for place in places)
    if wanted < rows:
        parts = [(place - 1) * wanted // rows for place in places]
        assert max(parts) - min(parts) >= wanted - 2
