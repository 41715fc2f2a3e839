"""Failed rows, counted by several processes of one run."""

import os
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.failing import ErrorLimit
from headgate.core.fault import FaultClass
from headgate.core.item import ClaimedItem
from headgate.core.retry import HANDED_BACK, RetryDecision
from headgate.core.settlement import Settlement, settle
from headgate.core.status import ItemStatus
from headgate.engine.error_count import ErrorCount

FIVE = ErrorLimit("5", rows=5)
DONE = RetryDecision(ItemStatus.DONE, "done")
ERROR = RetryDecision(ItemStatus.ERROR, "error", failed=True, error_class=FaultClass.PERMANENT)
AGAIN = RetryDecision(ItemStatus.PENDING, "retry", failed=True, error_class=FaultClass.TRANSIENT)
REFUSED = msgspec.structs.replace(AGAIN, error_class=FaultClass.THROTTLED)
LATER = msgspec.structs.replace(AGAIN, error_class=FaultClass.DEFERRED)


@pytest.fixture
def count() -> Iterator[ErrorCount]:
    count = ErrorCount.create(FIVE, 100)
    yield count
    count.close()


def ended(item_id: int, verdict: RetryDecision, trace: str | None = None) -> Settlement:
    item = ClaimedItem(item_id, 1, str(item_id), "{}", None, 1, 0, 0, 0, 0, False, 0)
    return msgspec.structs.replace(settle(item, verdict), trace=trace)


def raised(item_id: int) -> Settlement:
    return ended(item_id, AGAIN, '{"where":"lookup.py:1","text":""}')


def test_a_row_counts_once_even_if_it_fails_several_times(count: ErrorCount):
    for settlement in (raised(1), raised(1), ended(1, ERROR)):
        count.add(settlement)
        assert count.totals() == (1, 1)
    assert not count.reached


def test_a_row_that_succeeds_later_is_not_a_failure(count: ErrorCount):
    count.add(raised(1))
    count.add(ended(1, DONE))
    assert count.totals() == (0, 1)


@pytest.mark.parametrize(
    ("verdict", "totals"),
    [
        (HANDED_BACK, (0, 0)),
        (REFUSED, (0, 0)),
        (LATER, (0, 0)),
        (AGAIN, (0, 1)),
        (DONE, (0, 1)),
        (ERROR, (1, 1)),
    ],
)
def test_only_raised_and_ended_rows_are_failures(
    count: ErrorCount, verdict: RetryDecision, totals: tuple[int, int]
):
    count.add(ended(7, verdict))
    assert count.totals() == totals


def test_processes_see_each_others_failures(count: ErrorCount):
    first = ErrorCount(count.share([]))
    second = ErrorCount(count.share([1]))
    for item_id in (1, 2):
        first.add(raised(item_id))
    second.add(ended(1, ERROR))  # the retry of a row that failed in the other process
    for item_id in (10**12, 10**12 + 1):
        second.add(ended(item_id, ERROR))
    assert (count.totals(), second.reached) == ((4, 4), False)
    count.add(ended(5, ERROR))  # the supervisor settles the row of a crashed worker
    assert first.reached
    assert second.reached


def test_a_new_process_resumes_where_the_one_before_ended(count: ErrorCount):
    ErrorCount(count.share([])).add(raised(1))
    replacement = ErrorCount(count.share([None]))
    replacement.add(raised(2))
    assert count.totals() == (2, 2)


def test_the_limit_stays_reached(count: ErrorCount):
    for item_id in range(5):
        count.add(raised(item_id))
    for item_id in range(5):
        count.add(ended(item_id, DONE))
    assert (count.totals(), count.reached) == ((0, 5), True)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 6), st.booleans()), max_size=60))
def test_totals_are_those_of_the_last_attempts(attempts: list[tuple[int, int, bool]]):
    first = ErrorCount.create(FIVE, 100)
    others = [ErrorCount(first.share(range(slot))) for slot in range(1, 4)]
    last: dict[int, bool] = {}
    for process, item_id, failed in attempts:
        [first, *others][process].add(raised(item_id) if failed else ended(item_id, DONE))
        last[item_id] = failed
    assert first.totals() == (sum(last.values()), len(last))
    first.close()


def test_the_memory_can_be_inherited(count: ErrorCount):
    assert os.get_inheritable(count.share([]).fd)
