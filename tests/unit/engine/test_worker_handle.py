"""What happens to the items of a process that ended, and which of them is to blame."""

from collections.abc import Iterator
from random import Random

import pytest

from headgate.core.fault import FaultClass
from headgate.core.item import ClaimedItem
from headgate.core.retry import RetryPolicy
from headgate.core.settlement import Settlement
from headgate.core.status import ItemStatus
from headgate.engine.board import FlightBoard
from headgate.engine.worker_handle import WorkerHandle
from headgate.ports.launcher import WorkerOrder, WorkerReport
from tests.kit.processes import FakeProcess

GRACE_S, DIED_S = 1.0, 12.5
POLICY = RetryPolicy()


@pytest.fixture
def board() -> Iterator[FlightBoard]:
    board = FlightBoard.create()
    yield board
    board.close()


@pytest.fixture
def child(board: FlightBoard) -> WorkerHandle:
    return WorkerHandle(WorkerOrder("w", "s", None, 4), FakeProcess(), board)


def held(*ids: int, crashes: int = 0, failures: int = 0) -> dict[int, ClaimedItem]:
    return {
        n: ClaimedItem(n, 1, str(n), "{}", None, 1, failures, failures, crashes, 0, False, 0)
        for n in ids
    }


def start_items(board: FlightBoard, *starts: float, limit_s: float = 10.0) -> None:
    for number, start_s in enumerate(starts, start=1):
        board.start(number, 1, start_s, limit_s)


def words(
    child: WorkerHandle, items: dict[int, ClaimedItem], code: int = -9
) -> dict[int, Settlement]:
    found = child.settle_running(code, items, POLICY, Random(1), DIED_S)
    return {settlement.item_id: settlement for settlement in found}


def test_items_that_ran_when_the_process_died_become_suspects(
    child: WorkerHandle, board: FlightBoard
):
    start_items(board, 0.0, 0.0)
    found = words(child, held(1, 2, 3), code=-11)
    assert found.keys() == {1, 2}
    for settlement in found.values():
        assert (settlement.status, settlement.suspect) == (ItemStatus.PENDING, True)
        assert (settlement.attempts, settlement.crashes) == (0, 1)
        assert settlement.error_class == FaultClass.CRASHED
        assert "was running when its process crashed (killed by SIGSEGV)" in str(settlement.reason)


@pytest.mark.parametrize("lost", [False, True])
def test_an_attempt_that_ended_with_its_process_says_how_long_it_waited_and_ran(
    child: WorkerHandle, board: FlightBoard, lost: bool
):
    board.start(1, 1, 10.0, 600.0, queued_s=0.75)
    if lost:
        child.kill_as_lost()
    found = words(child, held(1))[1]
    assert (found.waited_us, found.ran_us) == (750_000, 2_500_000)


def test_a_process_that_a_handler_ended_says_what_the_handler_did(
    child: WorkerHandle, board: FlightBoard
):
    process = child.process
    assert isinstance(process, FakeProcess)
    start_items(board, 0.0)
    process.say(WorkerReport(ready=True))
    process.say(WorkerReport(crash="a handler stopped the event loop of its process"))
    child.listen()
    assert "a handler stopped the event loop" in str(words(child, held(1), code=4)[1].reason)


def test_a_lost_lease_is_ignored(child: WorkerHandle, board: FlightBoard):
    board.start(1, 99, 0.0, 10.0)
    board.start(2, 1, 0.0, 10.0)
    assert words(child, held(1)) == {}


def test_the_third_crash_is_poison(child: WorkerHandle, board: FlightBoard):
    start_items(board, 0.0)
    found = words(child, held(1, crashes=2))[1]
    assert (found.status, found.error_class) == (ItemStatus.ERROR, FaultClass.POISON)


def test_an_item_is_overdue_after_limit_and_grace_at_the_second_look(
    child: WorkerHandle, board: FlightBoard
):
    start_items(board, 0.0, 1.0, 5.0)
    assert child.overdue(11.5, GRACE_S) == []
    assert [flight.item_id for flight in child.overdue(11.5, GRACE_S)] == [1]
    assert [flight.item_id for flight in child.overdue(12.5, GRACE_S)] == [1]
    assert [flight.item_id for flight in child.overdue(12.5, GRACE_S)] == [1, 2]


def test_time_at_a_gate_makes_no_item_overdue(child: WorkerHandle, board: FlightBoard):
    start_items(board, 0.0, 0.0)
    board.extend_limit(0, 25.0)
    child.overdue(20.0, GRACE_S)
    assert [flight.item_id for flight in child.overdue(20.0, GRACE_S)] == [2]
    child.overdue(36.5, GRACE_S)
    assert [flight.item_id for flight in child.overdue(36.5, GRACE_S)] == [1, 2]


def test_while_the_event_loop_turns_overdue_items_time_out(child: WorkerHandle, board: FlightBoard):
    """An async handler that swallows its cancellation harms no other item."""
    start_items(board, 0.0, 5.0)
    board.turned(11.45)
    child.overdue(11.5, GRACE_S)
    child.kill_for_time(child.overdue(11.5, GRACE_S), 11.5, GRACE_S)
    found = words(child, held(1, 2))
    assert (found[1].attempts, found[1].error_class) == (1, FaultClass.TIMEOUT)
    assert found[1].suspect
    assert (found[2].attempts, found[2].outcome, found[2].suspect) == (0, "handed_back", False)


@pytest.mark.parametrize("turned_s", [10.4, 3.0])
def test_a_blocked_loop_makes_all_of_them_suspects_at_no_cost_in_attempts(
    child: WorkerHandle, board: FlightBoard, turned_s: float
):
    """The one that started first is overdue first, and may only have waited for another."""
    start_items(board, 0.0, 3.0)
    board.turned(turned_s)
    child.overdue(11.5, GRACE_S)
    child.kill_for_time(child.overdue(11.5, GRACE_S), 11.5, GRACE_S)
    for settlement in words(child, held(1, 2)).values():
        assert (settlement.attempts, settlement.failures) == (0, 0)
        assert (settlement.suspect, settlement.outcome) == (True, "crashed")
        assert "time limit" in str(settlement.reason)


def test_an_item_that_blocks_the_loop_alone_times_out(child: WorkerHandle, board: FlightBoard):
    start_items(board, 0.0)
    board.turned(0.0)
    child.overdue(11.5, GRACE_S)
    child.kill_for_time(child.overdue(11.5, GRACE_S), 11.5, GRACE_S)
    found = words(child, held(1, failures=2))[1]
    assert (found.status, found.error_class) == (ItemStatus.ERROR, FaultClass.TIMEOUT)
    assert found.reason == "ran longer than 10 s and was killed"
    assert not found.suspect


def test_a_process_that_grew_too_large_names_the_limit(child: WorkerHandle, board: FlightBoard):
    start_items(board, 0.0)
    child.kill_for_memory(300)
    reason = str(words(child, held(1))[1].reason)
    assert "memory limit: the process grew beyond 300 MB" in reason


def test_a_lost_worker_makes_no_suspects(child: WorkerHandle, board: FlightBoard):
    start_items(board, 0.0)
    child.kill_as_lost()
    found = words(child, held(1))[1]
    assert (found.outcome, found.suspect, found.crashes) == ("handed_back", False, 0)


def test_a_child_remembers_its_last_command(child: WorkerHandle):
    process = child.process
    assert isinstance(process, FakeProcess)
    process.say(WorkerReport(ready=True))
    process.say(WorkerReport(error="no space", error_kind="StoreFull"))
    child.listen()
    child.listen()
    assert (child.ready, child.stuck) == (True, False)
    assert (child.error, child.error_kind) == ("no space", "StoreFull")
