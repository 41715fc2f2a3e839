"""The board shows what a process is doing, to another process and after its death."""

import os
from collections.abc import Iterator

import pytest

from headgate.engine.board import Flight, FlightBoard


@pytest.fixture
def board() -> Iterator[FlightBoard]:
    board = FlightBoard.create()
    yield board
    board.close()


@pytest.fixture
def seen(board: FlightBoard) -> Iterator[FlightBoard]:
    """The same board in the eyes of somebody else."""
    other = FlightBoard(os.dup(board.fd))
    yield other
    other.close()


def test_a_handler_is_on_the_board_from_its_start_to_its_end(board: FlightBoard, seen: FlightBoard):
    first = board.start(7, 3, 100.0, 60.0)
    board.start(8, 1, 101.0, 30.0)
    assert seen.running() == [Flight(7, 3, 100.0, 60.0), Flight(8, 1, 101.0, 30.0)]
    board.end(first)
    assert seen.running() == [Flight(8, 1, 101.0, 30.0)]


def test_slots_are_used_again(board: FlightBoard, seen: FlightBoard):
    for n in range(1, 3 * FlightBoard.SLOTS):
        board.end(board.start(n, 1, 0.0, 1.0))
    assert seen.running() == []
    assert board.start(1, 1, 0.0, 1.0) == 0


def test_a_full_board_keeps_no_handler_from_running():
    class Tiny(FlightBoard):
        SLOTS = 2

    board = Tiny.create()
    slots = [board.start(n, 1, 0.0, 1.0) for n in (1, 2, 3)]
    assert slots == [0, 1, FlightBoard.UNSEEN]
    for slot in slots:
        board.end(slot)
    assert board.running() == []
    assert board.start(4, 1, 0.0, 1.0) in {0, 1}
    board.close()


def test_the_tally_grows_with_every_commit(board: FlightBoard, seen: FlightBoard):
    board.claimed(10.0)
    board.claimed(11.0)
    board.committed(5, 12.0, 20.0)
    board.committed(3, 13.0, 30.0)
    board.may_use(512)
    board.may_use(256)
    tally = seen.tally()
    assert (tally.settled, tally.first_claim_s, tally.last_commit_s) == (8, 10.0, 13.0)
    assert (tally.ttl_s, tally.memory_mb) == (30.0, 512)


def test_others_see_when_the_loop_last_turned(board: FlightBoard, seen: FlightBoard):
    assert seen.turned_s() == 0.0
    board.turned(42.5)
    assert seen.turned_s() == 42.5
