"""What may be chosen from what a handler stored."""

import msgspec
import pytest

from headgate.core.errors import IllegalMove, UsageError
from headgate.core.item import candidates_in, chosen_result, decision_text, require_decision
from headgate.core.status import ItemMove


def stored(*candidates):
    return msgspec.json.encode({"candidates": candidates}).decode()


def test_the_result_of_the_chosen_candidate():
    text = stored({"id": "a", "result": {"n": 1}}, {"id": "b", "result": {"n": 2}})
    assert chosen_result(text, "b") == {"n": 2}


def test_a_refusal_names_what_there_is():
    text = stored({"id": "a"}, {"id": 7})
    with pytest.raises(UsageError, match=r"no candidate 'x'; the item has a, 7$"):
        chosen_result(text, "x")
    many = stored(*({"id": number} for number in range(12)))
    with pytest.raises(UsageError, match=r"9 and 2 more$"):
        chosen_result(many, "x")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"candidates": 3}', stored("a", 3, {})])
def test_where_nothing_can_be_chosen_it_says_so(text):
    assert candidates_in(text) == []
    with pytest.raises(UsageError, match="the item has none"):
        chosen_result(text, "a")


def test_two_of_one_id_cannot_be_told_apart():
    with pytest.raises(UsageError, match="2 candidates"):
        chosen_result(stored({"id": 1}, {"id": "1"}), "1")


def test_a_result_must_have_names():
    with pytest.raises(UsageError, match="no result"):
        chosen_result(stored({"id": 1, "result": "x"}), "1")


@pytest.mark.parametrize("move", sorted(ItemMove))
def test_a_person_accepts_rejects_or_passes_over(move):
    if move is ItemMove.ACCEPT:
        require_decision(move, "a")
        with pytest.raises(UsageError):
            require_decision(move, None)
    elif move in {ItemMove.REJECT, ItemMove.PASS_OVER}:
        require_decision(move, None)
        with pytest.raises(UsageError):
            require_decision(move, "a")
    else:
        with pytest.raises(IllegalMove):
            require_decision(move, None)


def test_a_decision_in_words():
    assert decision_text(ItemMove.ACCEPT, "a", "ann") == "accepted candidate a, decided by ann"
    assert decision_text(ItemMove.REJECT, None, "ann", "none fits") == (
        "rejected every candidate, decided by ann: none fits"
    )
