"""The tables of legal moves: what they allow, everything that they refuse, and what is derived."""

from itertools import product

import pytest

from headgate.core.errors import IllegalMove
from headgate.core.status import (
    CLAIMABLE,
    FINISHED,
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


def test_what_a_person_decides_needs_a_review():
    for move in (ItemMove.ACCEPT, ItemMove.REJECT, ItemMove.PASS_OVER):
        assert TRANSITIONS[move].sources == {ItemStatus.REVIEW}


def test_every_unfinished_job_can_be_cancelled_and_none_else():
    assert JOB_TRANSITIONS[JobMove.CANCEL].sources == UNFINISHED
    assert CLAIMABLE < UNFINISHED
