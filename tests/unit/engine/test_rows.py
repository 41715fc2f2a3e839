"""Keys and summaries of rows."""

import pytest

from headgate.engine.rows import KEY_LIMIT, SUMMARY_LIMIT, key_of, summary_of


@pytest.mark.parametrize(
    ("values", "columns", "key"),
    [
        ({"a": "x"}, ["a"], "x"),
        ({"a": 1}, ["a"], "1"),
        ({"a": {"b": None}}, ["a"], '{"b":null}'),
        ({"a": "x", "b": ""}, ["a", "b"], '["x",""]'),
        ({"a": "x", "b": 2}, ["b", "a"], '[2,"x"]'),
    ],
)
def test_keys(values, columns, key):
    assert key_of(values, columns) == (key, None)


@pytest.mark.parametrize(
    ("values", "columns", "problem"),
    [
        ({"a": ""}, ["a"], "the key is empty (a)"),
        ({"a": None}, ["a"], "the key is empty (a)"),
        ({"a": "", "b": None}, ["a", "b"], "the key is empty (a, b)"),
        ({"b": 1}, ["a"], "no value for the key column 'a'"),
    ],
)
def test_rows_without_a_key(values, columns, problem):
    assert key_of(values, columns) == ("", problem)


def test_long_keys_are_cut_and_stay_different():
    one, _ = key_of({"a": "x" * 5_000 + "1"}, ["a"])
    two, _ = key_of({"a": "x" * 5_000 + "2"}, ["a"])
    assert one != two
    assert len(one) < KEY_LIMIT + 40


def test_a_nul_is_not_a_part_of_a_key():
    one, _ = key_of({"a": "x\0y"}, ["a"])
    two, _ = key_of({"a": "x y"}, ["a"])
    assert "\0" not in one
    assert one != two


def test_summaries_are_short_and_printable():
    assert summary_of({"a": "x\n\0y", "b": "z", "c": "1", "d": "more"}) == "x  y · z · 1"
    assert summary_of({"a": 1, "b": [None], "c": "x"}) == "1 · [null] · x"
    assert summary_of({"a": "x", "b": "", "c": None, "d": "more"}) == "x"
    assert summary_of({"a": "", "b": 0, "c": "x"}) == "0 · x"
    assert summary_of({}) == ""
    assert len(summary_of({"a": "x" * 1_000})) == SUMMARY_LIMIT
