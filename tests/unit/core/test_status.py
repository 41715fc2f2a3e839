"""The state tables say what they must, and nothing else is legal."""

from itertools import product

import pytest

from headgate.core.errors import IllegalMove
from headgate.core.status import (
    FINISHED,
    JOB_TRANSITIONS,
    OPEN,
    TERMINAL,
    TRANSITIONS,
    ItemMove,
    ItemStatus,
    JobMove,
    JobState,
    item_after,
    job_after,
    moves_from,
)


@pytest.mark.parametrize(("move", "status"), [*product(ItemMove, ItemStatus)])
def test_an_item_moves_as_its_table_says_or_not_at_all(move, status):
    sources, target = TRANSITIONS[move]
    if status in sources:
        assert item_after(move, status) is target
        assert move in moves_from(status)
    else:
        with pytest.raises(IllegalMove, match=f"an item in {status}"):
            item_after(move, status)
        assert move not in moves_from(status)


@pytest.mark.parametrize(("move", "state"), [*product(JobMove, JobState)])
def test_a_job_moves_as_its_table_says_or_not_at_all(move, state):
    sources, target = JOB_TRANSITIONS[move]
    if state in sources:
        assert job_after(move, state) is target
    else:
        with pytest.raises(IllegalMove, match=f"a job in {state}"):
            job_after(move, state)


def test_every_status_is_open_or_finished_and_review_is_not_the_end():
    assert set(ItemStatus) == OPEN | FINISHED
    assert not OPEN & FINISHED
    assert {ItemStatus.REVIEW} == FINISHED - TERMINAL


def test_only_a_claim_leads_to_processing():
    leading = {move for move, (_, target) in TRANSITIONS.items() if target == "PROCESSING"}
    assert leading == {ItemMove.CLAIM}


def test_whatever_is_finished_can_be_tried_again():
    assert TRANSITIONS[ItemMove.REQUEUE].sources == FINISHED


def test_a_cancelled_job_comes_back_only_by_reprocessing():
    leaving = {move for move, (sources, _) in JOB_TRANSITIONS.items() if "CANCELLED" in sources}
    assert leaving == {JobMove.REPROCESS}
