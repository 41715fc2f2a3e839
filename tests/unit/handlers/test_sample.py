"""The sample shows every outcome that a row can have."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from headgate.core.item import Item
from headgate.core.outcome import GiveUp, NotFound, Review, Skipped
from headgate.handlers import sample
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


def test_it_takes_long_enough_to_be_watched(monkeypatch: pytest.MonkeyPatch):
    """However many threads there are, few words are counted at once."""
    lock, now, most = threading.Lock(), 0, 0
    crowded = threading.Barrier(sample.AT_ONCE)

    def sleep(_seconds: float) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        crowded.wait(timeout=30)
        with lock:
            now -= 1

    monkeypatch.setattr(sample, "time", SimpleNamespace(sleep=sleep))
    words = [{"word": "river"}] * (sample.AT_ONCE * 4)
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda row: sample.words(Item(1, "river", row), None), words))
    assert most == sample.AT_ONCE
    assert found == [outcome_of("river")] * len(words)


def test_it_is_found_by_its_name():
    spec = resolve("sample.words")
    assert spec.reference == "sample.words"
    assert spec.needs == ("word",)
