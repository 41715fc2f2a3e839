"""The tables of legal moves: what they allow, everything that they refuse, and what is derived."""

from itertools import product

import pytest

from headgate.core.errors import IllegalMove
from headgate.core.job import Counts
from headgate.core.status import (
    CLAIMABLE,
    FINISHED,
    ITEM_DISPLAY,
    JOB_DISPLAY,
    JOB_TRANSITIONS,
    OPEN,
    TERMINAL,
    TRANSITIONS,
    UNFINISHED,
    ItemMove,
    ItemStatus,
    JobMove,
    JobState,
    item_after,
    job_after,
    moves_from,
)


def test_every_move_is_in_its_table():
    assert set(TRANSITIONS) == set(ItemMove)
    assert set(JOB_TRANSITIONS) == set(JobMove)


@pytest.mark.parametrize(("move", "status"), list(product(ItemMove, ItemStatus)))
def test_an_item_moves_as_the_table_says_and_not_otherwise(move: ItemMove, status: ItemStatus):
    sources, target = TRANSITIONS[move]
    if status in sources:
        assert item_after(move, status) is target
    else:
        with pytest.raises(IllegalMove, match=status):
            item_after(move, status)
    assert (move in moves_from(status)) == (status in sources)


@pytest.mark.parametrize(("move", "state"), list(product(JobMove, JobState)))
def test_a_job_moves_as_the_table_says_and_not_otherwise(move: JobMove, state: JobState):
    sources, target = JOB_TRANSITIONS[move]
    if state in sources:
        assert job_after(move, state) is target
    else:
        with pytest.raises(IllegalMove, match=state):
            job_after(move, state)


def test_every_status_says_how_it_is_shown_in_its_order():
    assert [*ITEM_DISPLAY] == [*ItemStatus]
    assert [*JOB_DISPLAY] == [*JobState]
    labels = [each.label for each in ITEM_DISPLAY.values()]
    assert len({*labels}) == len(labels)
    for display in (*ITEM_DISPLAY.values(), *JOB_DISPLAY.values()):
        assert display.help.endswith(".")


def test_the_word_of_a_status_agrees_with_its_number():
    error = ITEM_DISPLAY[ItemStatus.ERROR]
    assert [error.noun(number) for number in (0, 1, 2)] == ["errors", "error", "errors"]
    review = ITEM_DISPLAY[ItemStatus.REVIEW]
    assert [review.noun(number) for number in (1, 2)] == ["to review", "to review"]


def test_counts_have_a_number_for_each_status():
    numbers = {status.lower(): number for number, status in enumerate(ItemStatus, 1)}
    counts = Counts(**numbers)
    assert Counts.__struct_fields__ == tuple(numbers)
    assert [counts.of(status) for status in ItemStatus] == [*numbers.values()]
    assert counts.total == sum(numbers.values())
    assert counts.open == counts.pending + counts.processing
    assert counts.finished == counts.total - counts.open


def test_a_status_is_open_or_finished():
    assert set(ItemStatus) == OPEN | FINISHED
    assert not OPEN & FINISHED
    assert {ItemStatus.REVIEW} == FINISHED - TERMINAL


def test_only_a_running_item_ends_by_itself_and_only_a_finished_one_is_requeued():
    ended = {move for move in ItemMove if TRANSITIONS[move].sources == {ItemStatus.PROCESSING}}
    assert ended == {
        ItemMove.FINISH,
        ItemMove.MISS,
        ItemMove.SKIP,
        ItemMove.ASK,
        ItemMove.FAIL,
        ItemMove.RETRY,
        ItemMove.HAND_BACK,
    }
    assert TRANSITIONS[ItemMove.REQUEUE].sources == FINISHED


def test_decisions_of_a_person_need_a_review():
    for move in (ItemMove.ACCEPT, ItemMove.REJECT, ItemMove.PASS_OVER):
        assert TRANSITIONS[move].sources == {ItemStatus.REVIEW}


def test_only_unfinished_jobs_can_be_cancelled():
    assert JOB_TRANSITIONS[JobMove.CANCEL].sources == UNFINISHED
    assert CLAIMABLE < UNFINISHED
