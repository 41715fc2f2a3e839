"""The board shows what a process is doing, to another process and after its death."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from headgate.engine.board import FlightBoard, RunningHandler


@pytest.fixture
def board() -> Iterator[FlightBoard]:
    board = FlightBoard.create()
    yield board
    board.close()


@pytest.fixture
def seen(board: FlightBoard) -> Iterator[FlightBoard]:
    """The same board as another process sees it."""
    other = FlightBoard(os.dup(board.fd))
    yield other
    other.close()


def test_a_handler_is_on_the_board_from_its_start_to_its_end(board: FlightBoard, seen: FlightBoard):
    first = board.start(7, 3, 100.0, 60.0)
    board.start(8, 1, 101.0, 30.0)
    assert seen.running() == [RunningHandler(7, 3, 100.0, 60.0), RunningHandler(8, 1, 101.0, 30.0)]
    board.end(first)
    assert seen.running() == [RunningHandler(8, 1, 101.0, 30.0)]


def test_slots_are_used_again(board: FlightBoard, seen: FlightBoard):
    for n in range(1, 3 * FlightBoard.SLOTS):
        board.end(board.start(n, 1, 0.0, 1.0))
    assert seen.running() == []
    assert board.start(1, 1, 0.0, 1.0) == 0


def test_handlers_run_even_if_the_board_is_full():
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
    board.claimed(10.0, 16)
    board.claimed(11.0, 40)
    board.committed(5, 12.0, 20.0)
    board.committed(3, 13.0, 30.0)
    board.may_use(512)
    board.may_use(256)
    tally = seen.tally()
    assert (tally.settled, tally.first_claim_s, tally.last_commit_s) == (8, 10.0, 13.0)
    assert (tally.ttl_s, tally.memory_mb, tally.claim_size) == (30.0, 512, 40)


def test_other_processes_see_when_the_event_loop_last_turned(board: FlightBoard, seen: FlightBoard):
    assert seen.turned_s() == 0.0
    board.turned(42.5)
    assert seen.turned_s() == 42.5


WRITER = """
import sys
from headgate.engine.board import FlightBoard
board = FlightBoard(int(sys.argv[1]))
print("ready", flush=True)
while True:
    for item in range(1, 1_000):
        board.committed(1, 50.0, 20.0)
        board.turned(100.0)
        slot = board.start(item, item, 100.0, 60.0)
        board.end(slot)
"""


def test_a_reader_never_sees_half_a_flight(board: FlightBoard):
    """Else a handler that has just begun would seem to be running since the dawn of time."""
    board.turned(100.0)
    board.committed(1, 50.0, 20.0)
    words = [sys.executable, "-c", WRITER, str(board.fd)]
    with subprocess.Popen(words, pass_fds=[board.fd], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        try:
            flights = set(observe(board))
        finally:
            writer.kill()
    assert flights == {(100.0, 60.0)}


def observe(board: FlightBoard) -> Iterator[tuple[float, float]]:
    """What another process's flights look like, some ten thousand times."""
    seen = 0
    deadline = time.monotonic() + 10.0
    while seen < 20_000 and time.monotonic() < deadline:
        assert board.turned_s() == 100.0
        assert (board.tally().last_commit_s, board.tally().ttl_s) == (50.0, 20.0)
        for flight in board.running():
            seen += 1
            yield flight.started_s, flight.limit_s
