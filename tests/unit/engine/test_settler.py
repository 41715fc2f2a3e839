"""Group commit: results share transactions, and count once their commit returned."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from headgate.core.errors import StoreFull
from headgate.core.fault import FaultClass
from headgate.core.item import ClaimedItem
from headgate.core.mirror import Attachment
from headgate.core.retry import FINISHED, HANDED_BACK, RetryDecision
from headgate.core.settlement import Settlement, settle
from headgate.core.sizing import ClaimPolicy, ClaimSizer
from headgate.core.status import ItemStatus
from headgate.engine.board import FlightBoard
from headgate.engine.clock import SystemClock
from headgate.engine.policy import WorkerPolicy
from headgate.engine.settler import MAX_COLUMNS, Settler
from headgate.ports.items import SettleReport, SettleRequest

PATIENT = WorkerPolicy(flush_items=10, flush_s=30.0)
"""Nobody waits thirty seconds here: a commit comes early because the batch is full, or not."""
PROMPT = WorkerPolicy(flush_items=10, flush_s=0.0)


class Sink:
    """Commits when it is allowed to."""

    def __init__(self) -> None:
        self.requests: list[SettleRequest] = []
        self.refused: tuple[int, ...] = ()
        self.open = asyncio.Event()
        self.open.set()

    async def settle_many(self, request: SettleRequest) -> SettleReport:
        self.requests.append(request)
        await self.open.wait()
        return SettleReport(self.refused)


@pytest.fixture
def board() -> Iterator[FlightBoard]:
    board = FlightBoard.create()
    yield board
    board.close()


def settled(item_id: int, job_id: int = 1) -> Settlement:
    item = ClaimedItem(item_id, job_id, str(item_id), "{}", None, 1, 0, 0, 0, 0, False, 0)
    return settle(item, FINISHED, "{}")


def a_settler(sink: Sink, board: FlightBoard, policy: WorkerPolicy) -> Settler:
    return Settler(sink, "w", policy, SystemClock(), board, ClaimSizer(ClaimPolicy(), 1))


@asynccontextmanager
async def running(settler: Settler) -> AsyncIterator[None]:
    task = asyncio.ensure_future(settler.run())
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_full_batch_is_committed_at_once_and_as_one(board: FlightBoard):
    sink = Sink()
    settler = a_settler(sink, board, PATIENT)
    async with running(settler):
        for n in range(1, 11):
            settler.add(settled(n))
        await settler.wait_idle()
    [request] = sink.requests
    assert [each.item_id for each in request.settlements] == list(range(1, 11))
    assert (request.worker, board.tally().settled) == ("w", 10)


async def test_a_lonely_result_waits_no_longer_than_it_must(board: FlightBoard):
    sink = Sink()
    settler = a_settler(sink, board, PROMPT)
    async with running(settler):
        settler.add(settled(1))
        await settler.wait_idle()
    assert len(sink.requests) == 1


async def test_idle_means_committed_not_merely_handed_over(board: FlightBoard):
    sink = Sink()
    sink.open.clear()
    settler = a_settler(sink, board, PROMPT)
    async with running(settler):
        settler.add(settled(1))
        waiting = asyncio.ensure_future(settler.wait_idle())
        while not sink.requests:
            await asyncio.wait([waiting], timeout=0.001)
        settler.add(settled(2))
        assert not waiting.done()
        assert board.tally().settled == 0
        sink.open.set()
        await waiting
    assert board.tally().settled == 2


async def test_lanes_wait_while_the_commits_lag(board: FlightBoard):
    sink = Sink()
    settler = a_settler(sink, board, PATIENT)
    for n in range(1, Settler.BACKLOG * PATIENT.flush_items + 1):
        assert not settler.crowded
        settler.add(settled(n))
    assert settler.crowded
    waiting = asyncio.ensure_future(settler.wait_room())
    await asyncio.wait([waiting], timeout=0.001)
    assert not waiting.done()
    await settler.flush()
    await waiting
    assert not settler.crowded


async def test_refused_or_returned_items_are_not_progress(board: FlightBoard):
    sink = Sink()
    sink.refused = (2,)
    settler = a_settler(sink, board, PATIENT)
    item = ClaimedItem(3, 1, "3", "{}", None, 1, 0, 0, 0, 0, False, 0)
    for settlement in (settled(1), settled(2), settle(item, HANDED_BACK)):
        settler.add(settlement)
    await settler.flush()
    assert (settler.refused, board.tally().settled) == (1, 1)


async def test_a_column_is_named_once_for_each_job(board: FlightBoard):
    sink = Sink()
    settler = a_settler(sink, board, PATIENT)
    settler.add(settled(1), {"a": 1, "b": 2})
    settler.add(settled(2), {"b": 1, "c": 2})
    settler.add(settled(3, job_id=2), {"a": 1})
    await settler.flush()
    settler.add(settled(4), {"a": 1})
    await settler.flush()
    first, second = sink.requests
    assert {each.job_id: each.names for each in first.columns} == {1: ("a", "b", "c"), 2: ("a",)}
    assert second.columns == []


async def test_names_that_no_store_can_hold_get_no_column(board: FlightBoard):
    sink = Sink()
    settler = a_settler(sink, board, PATIENT)
    odd = {"n" * 501: 1, "be\0fore": 2, 7: 3, "fine": 4}
    settler.add(settled(1), odd)  # type: ignore[arg-type]
    settler.add(settled(2), {f"column {n}": n for n in range(MAX_COLUMNS + 10)})
    await settler.flush()
    [columns] = sink.requests[0].columns
    assert columns.names[:2] == ("7", "fine")
    assert len(columns.names) < MAX_COLUMNS


async def test_a_commit_that_fails_ends_the_settler(board: FlightBoard):
    class Full(Sink):
        async def settle_many(self, request: SettleRequest) -> SettleReport:
            raise StoreFull

    settler = a_settler(Full(), board, PROMPT)
    settler.add(settled(1))
    with pytest.raises(StoreFull):
        await settler.run()


@pytest.mark.parametrize(
    ("verdict", "in_vain"),
    [
        (RetryDecision(ItemStatus.PENDING, "retry", error_class=FaultClass.TRANSIENT), True),
        (RetryDecision(ItemStatus.ERROR, "error", error_class=FaultClass.PERMANENT), True),
        (RetryDecision(ItemStatus.PENDING, "throttled", error_class=FaultClass.THROTTLED), False),
        (HANDED_BACK, False),
        (FINISHED, False),
    ],
)
def test_only_retries_that_failed_again_are_in_vain(
    board: FlightBoard, verdict: RetryDecision, in_vain: bool
):
    sizer = ClaimSizer(ClaimPolicy(), 1)
    settler = Settler(Sink(), "w", WorkerPolicy(), SystemClock(), board, sizer)
    for number in range(40):
        item = ClaimedItem(number, 1, str(number), "{}", None, 1, 2, 1, 0, 0, False, 0)
        settler.add(settle(item, verdict))
    assert (sizer.retry_share < ClaimSizer.RETRY_SHARE) is in_vain


def attached(item_id: int, size: int = 0, **fields: int) -> Attachment:
    return Attachment(item_id, 1, 1, size=size, fields={"s": fields} if fields else {})


async def test_a_batch_with_many_bytes_is_committed_at_once_and_makes_lanes_wait(
    board: FlightBoard,
):
    sink = Sink()
    sink.open.clear()
    policy = WorkerPolicy(flush_items=10, flush_s=30.0, flush_bytes=100)
    settler = a_settler(sink, board, policy)
    async with running(settler):
        settler.add(settled(1), None, attached(1, 100))
        while not sink.requests:
            await asyncio.wait([asyncio.ensure_future(sink.open.wait())], timeout=0.001)
        settler.add(settled(2), None, attached(2, 399))
        assert not settler.crowded
        settler.add(settled(3), None, attached(3, 1))
        assert settler.crowded
        sink.open.set()
        await settler.wait_room()
        await settler.wait_idle()
    assert [len(request.attachments) for request in sink.requests] == [1, 2]


async def test_a_field_is_sent_until_its_commit_was_accepted(board: FlightBoard):
    sink = Sink()
    settler = a_settler(sink, board, PROMPT)
    sink.refused = (1,)
    for item_id in (1, 2, 3):
        settler.add(settled(item_id), None, attached(item_id, a=4))
        await settler.flush()
        sink.refused = ()
    assert [request.attachments[0].fields for request in sink.requests] == [
        {"s": {"a": 4}},
        {"s": {"a": 4}},
        {},
    ]


async def test_a_commit_that_added_items_is_told(board: FlightBoard):
    told: list[int] = []

    class Spawning(Sink):
        async def settle_many(self, request: SettleRequest) -> SettleReport:
            return SettleReport(spawned=len(request.attachments))

    async def tell() -> None:
        told.append(1)

    settler = a_settler(Spawning(), board, PROMPT)
    settler.on_spawned = tell
    settler.add(settled(1))
    await settler.flush()
    assert not told
    settler.add(settled(2), None, attached(2))
    await settler.flush()
    assert told == [1]
