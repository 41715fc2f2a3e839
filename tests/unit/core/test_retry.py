"""Every row of the table "what happened, what follows, does it count" in DESIGN."""

from random import Random

import msgspec
import pytest

from headgate.core.fault import Fault, FaultClass
from headgate.core.item import ClaimedItem
from headgate.core.outcome import Done, GiveUp, NotFound, RetryLater, Review, Skipped
from headgate.core.retry import RetryPolicy, Verdict, after_crash, backoff_s, decide
from headgate.core.status import ItemStatus

POLICY = RetryPolicy()
FRESH = ClaimedItem(1, 1, "k", "{}", None, 1, 0, 0, 0, 0, False, 0)
TRANSIENT = Fault(FaultClass.TRANSIENT, "connection reset")
DAY_US = 86_400 * 1_000_000


class Longest:
    """Chance that always takes the longest wait."""

    def uniform(self, _a: float, b: float, /) -> float:
        return b


def verdict(ended: object, item: ClaimedItem = FRESH, strategies: int = 0) -> Verdict:
    return decide(item, ended, POLICY, strategies, Longest())  # type: ignore[arg-type]


def having(**facts: object) -> ClaimedItem:
    return msgspec.structs.replace(FRESH, **facts)


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (Done({"a": 1}), ItemStatus.DONE),
        (Skipped("duplicate"), ItemStatus.SKIPPED),
        (Review([]), ItemStatus.REVIEW),
        (NotFound(), ItemStatus.NOT_FOUND),
        (GiveUp("never"), ItemStatus.ERROR),
    ],
)
def test_an_answer_ends_the_item_and_counts(outcome, status):
    found = verdict(outcome)
    assert (found.status, found.counted) == (status, True)


def test_nothing_found_goes_on_with_the_next_strategy_and_ends_after_the_last():
    first = verdict(NotFound("no isbn"), strategies=2)
    assert (first.status, first.missed, first.due_in_us) == (ItemStatus.PENDING, True, 0)
    last = verdict(NotFound("no title"), having(strategy=1), strategies=2)
    assert (last.status, last.reason) == (ItemStatus.NOT_FOUND, "no title")


def test_a_setting_overrules_the_number_of_strategies():
    policy = RetryPolicy(max_attempts_not_found=2)
    assert decide(FRESH, NotFound(), policy, 5, Longest()).status is ItemStatus.PENDING
    again = decide(having(strategy=1), NotFound(), policy, 5, Longest())
    assert again.status is ItemStatus.NOT_FOUND


@pytest.mark.parametrize("kind", [FaultClass.TRANSIENT, FaultClass.TIMEOUT])
def test_a_passing_fault_is_retried_with_growing_waits_until_the_attempts_are_used_up(kind):
    waits = []
    for failures in range(2):
        found = verdict(Fault(kind, "boom"), having(failures=failures))
        assert (found.status, found.counted, found.failed) == (ItemStatus.PENDING, True, True)
        waits.append(found.due_in_us)
    assert waits == [5_000_000, 30_000_000]
    last = verdict(Fault(kind, "boom"), having(failures=2))
    assert (last.status, last.error_class, last.reason) == (ItemStatus.ERROR, kind, "boom")


@pytest.mark.parametrize("kind", [FaultClass.PERMANENT, FaultClass.INVALID_RESULT])
def test_a_lasting_fault_is_not_retried(kind):
    found = verdict(Fault(kind, "bad request"))
    assert (found.status, found.error_class, found.counted) == (ItemStatus.ERROR, kind, True)


def test_being_asked_to_wait_costs_no_attempt():
    found = verdict(RetryLater(after=7))
    assert (found.status, found.counted, found.failed) == (ItemStatus.PENDING, False, False)
    assert (found.throttled, found.due_in_us) == (True, 7_000_000)


@pytest.mark.parametrize(("after", "due_in_us"), [(-5, 0), (1e12, DAY_US)])
def test_absurd_waits_are_brought_to_their_bounds(after, due_in_us):
    assert verdict(RetryLater(after=after)).due_in_us == due_in_us


def test_a_refusal_that_names_no_time_waits_like_a_first_failure():
    assert verdict(Fault(FaultClass.THROTTLED, "HTTP 429")).due_in_us == 5_000_000


def test_an_item_that_is_throttled_for_a_day_without_a_break_has_stalled():
    found = verdict(RetryLater(after=1), having(throttled_us=DAY_US))
    assert (found.status, found.error_class) == (ItemStatus.ERROR, FaultClass.STALLED)


def test_a_crash_makes_a_suspect_and_the_third_one_names_the_poison():
    first = after_crash(FRESH, "killed by SIGSEGV", POLICY)
    assert (first.status, first.alone, first.counted) == (ItemStatus.PENDING, True, False)
    third = after_crash(having(crashes=2), "killed by SIGSEGV", POLICY)
    assert (third.status, third.error_class) == (ItemStatus.ERROR, FaultClass.POISON)
    assert "SIGSEGV" in (third.reason or "")
    assert not third.counted


def test_backoff_is_full_jitter_below_a_cap():
    rng = Random(1)
    waits = [backoff_s(50, POLICY, rng) for _ in range(200)]
    assert max(waits) <= POLICY.backoff_cap_s
    assert min(waits) < POLICY.backoff_cap_s / 10
