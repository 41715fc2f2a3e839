"""Patterns that are compiled at their first use."""

import re

import pytest

from headgate.core.pattern import pattern


@pytest.mark.parametrize("method", ["fullmatch", "search"])
def test_it_finds_what_the_compiled_pattern_finds(method: str):
    lazy, compiled = pattern("a(b+)", re.IGNORECASE), re.compile("a(b+)", re.IGNORECASE)
    for text in ("ABB", "xABB", "", "ABB"):  # the first time, and again
        found, expected = getattr(lazy, method)(text), getattr(compiled, method)(text)
        assert (found and found.groups()) == (expected and expected.groups())


def test_it_replaces_and_splits():
    lazy = pattern(r"\s+")
    assert [lazy.sub(" ", "a  b \n c") for _ in range(2)] == ["a b c", "a b c"]
    assert lazy.split("a  b") == ["a", "b"]
    assert lazy.pattern == r"\s+"


def test_a_wrong_pattern_is_told_at_its_first_use():
    wrong = pattern("(")
    with pytest.raises(re.error):
        wrong.search("")
