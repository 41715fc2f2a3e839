"""The sample shows every outcome that a row can have."""

import pytest

from headgate.core.outcome import GiveUp, NotFound, Review, Skipped
from headgate.handlers.registry import resolve
from headgate.handlers.sample import outcome_of


@pytest.mark.parametrize(
    ("word", "outcome"),
    [("1984", Skipped), ("a b", GiveUp), ("zzz", NotFound), ("bank", Review)],
)
def test_some_words_are_special(word: str, outcome: type):
    assert isinstance(outcome_of(word), outcome)


def test_a_word_is_counted():
    assert outcome_of("river") == {"letters": 5, "vowels": 2, "backwards": "revir"}


def test_it_is_found_by_its_name():
    spec = resolve("sample.words")
    assert spec.reference == "sample.words"
    assert spec.needs == ("word",)
