"""What follows from an attempt: every row of the table of outcomes, and the edges between them."""

from random import Random

import pytest

from headgate.core.fault import Fault, FaultClass
from headgate.core.item import ClaimedItem
from headgate.core.outcome import Done, GiveUp, NotFound, Outcome, RetryLater, Review, Skipped
from headgate.core.retry import RetryDecision, RetryPolicy, after_crash, backoff_s, decide
from headgate.core.status import ItemStatus

POLICY = RetryPolicy()
SECOND = 1_000_000


def an_item(
    failures: int = 0, crashes: int = 0, strategy: int = 0, throttled_us: int = 0
) -> ClaimedItem:
    return ClaimedItem(
        id=1,
        job_id=1,
        key="1",
        input="{}",
        normalized=None,
        epoch=1,
        attempts=failures,
        failures=failures,
        crashes=crashes,
        strategy=strategy,
        suspect=crashes > 0,
        throttled_us=throttled_us,
    )


def verdict(
    ended: Outcome | Fault,
    item: ClaimedItem | None = None,
    policy: RetryPolicy = POLICY,
    strategies: int = 0,
) -> RetryDecision:
    return decide(item or an_item(), ended, policy, strategies, Random(1))


@pytest.mark.parametrize(
    ("ended", "status"),
    [
        (Done({"price": 1}), ItemStatus.DONE),
        (Skipped("robots"), ItemStatus.SKIPPED),
        (Review([]), ItemStatus.REVIEW),
        (NotFound(), ItemStatus.NOT_FOUND),
    ],
)
def test_an_answer_ends_the_item_and_counts(ended: Outcome, status: ItemStatus):
    found = verdict(ended)
    assert (found.status, found.counted, found.failed) == (status, True, False)
    assert found.error_class is None


@pytest.mark.parametrize(
    "ended",
    [
        GiveUp("no such account"),
        Fault(FaultClass.PERMANENT, "400"),
        Fault(FaultClass.INVALID_RESULT, "not JSON"),
    ],
)
def test_a_permanent_fault_ends_the_item_at_once(ended: Outcome | Fault):
    found = verdict(ended)
    assert (found.status, found.counted, found.failed) == (ItemStatus.ERROR, True, True)
    assert found.reason == ended.reason


@pytest.mark.parametrize("kind", [FaultClass.TRANSIENT, FaultClass.TIMEOUT])
def test_a_transient_fault_is_tried_again_until_the_attempts_are_used_up(kind: FaultClass):
    fault = Fault(kind, "reset by peer")
    endings = [verdict(fault, an_item(failures=n)) for n in range(3)]
    assert [found.status for found in endings] == [
        ItemStatus.PENDING,
        ItemStatus.PENDING,
        ItemStatus.ERROR,
    ]
    assert all(found.counted and found.failed for found in endings)
    assert {found.error_class for found in endings} == {kind}
    assert endings[-1].due_in_us == 0


def test_a_throttled_item_waits_as_long_as_it_was_asked_to_and_pays_nothing():
    found = verdict(RetryLater(after=30, reason="429"))
    assert (found.status, found.counted, found.failed) == (ItemStatus.PENDING, False, False)
    assert (found.throttled, found.due_in_us) == (True, 30 * SECOND)
    assert (found.error_class, found.reason) == (FaultClass.DEFERRED, "429")
    assert found.outcome == "deferred", "a gate had no part in it"


def test_a_wait_is_never_longer_than_the_stall_limit():
    assert verdict(RetryLater(after=10**9)).due_in_us == POLICY.stall_limit_s * SECOND


@pytest.mark.parametrize("after", [-5, -0.0, 0, 0.001, 0.9])
def test_a_handler_that_asks_again_at_once_waits_for_a_second(after: float):
    assert verdict(RetryLater(after=after)).due_in_us == 1 * SECOND


@pytest.mark.parametrize(
    ("deferred_s", "least_s"), [(5, 1), (10, 1), (100, 10), (3_600, 60), (80_000, 60)]
)
def test_the_least_wait_grows_with_the_time_that_an_item_is_deferred(deferred_s: int, least_s: int):
    item = an_item(throttled_us=deferred_s * SECOND)
    assert verdict(RetryLater(after=0), item).due_in_us == least_s * SECOND
    assert verdict(RetryLater(after=300), item).due_in_us == 300 * SECOND


def test_an_item_that_always_asks_again_at_once_is_run_a_few_times_an_hour():
    """At no lower bound it was run twenty times a second, for a day."""
    now_s, runs = 0.0, 0
    while now_s < 3_600:
        item = an_item(throttled_us=int(now_s * SECOND))
        now_s += verdict(RetryLater(after=-5), item).due_in_us / SECOND
        runs += 1
    assert runs < 120


def test_what_a_gate_sends_back_returns_when_the_gate_says():
    found = verdict(Fault(FaultClass.THROTTLED, "closed", retry_after_s=0.1))
    assert (found.due_in_us, found.turned_away) == (SECOND // 10, True)
    assert (found.outcome, found.error_class) == ("throttled", FaultClass.THROTTLED)
    assert not verdict(RetryLater()).turned_away


def test_a_throttle_without_a_time_backs_off():
    found = verdict(Fault(FaultClass.THROTTLED, "503"))
    assert found.throttled
    assert 0 < found.due_in_us <= POLICY.backoff_base_s * SECOND


def test_an_item_that_is_throttled_for_a_day_is_stalled():
    limit_us = int(POLICY.stall_limit_s * SECOND)
    assert verdict(RetryLater(), an_item(throttled_us=limit_us - 1)).status is ItemStatus.PENDING
    found = verdict(RetryLater(reason="429"), an_item(throttled_us=limit_us))
    assert (found.status, found.error_class) == (ItemStatus.ERROR, FaultClass.STALLED)
    assert found.reason == "throttled without a break: 429"


def test_strategies_are_tried_in_turn_before_an_item_is_not_found():
    endings = [verdict(NotFound(), an_item(strategy=n), strategies=3) for n in range(3)]
    assert [found.status for found in endings] == [
        ItemStatus.PENDING,
        ItemStatus.PENDING,
        ItemStatus.NOT_FOUND,
    ]
    assert [found.missed for found in endings] == [True, True, False]
    assert all(found.counted and not found.failed for found in endings)


def test_a_policy_may_allow_more_or_fewer_misses_than_there_are_strategies():
    strict = RetryPolicy(max_attempts_not_found=1)
    assert verdict(NotFound(), policy=strict, strategies=3).status is ItemStatus.NOT_FOUND
    patient = RetryPolicy(max_attempts_not_found=2)
    assert verdict(NotFound(), policy=patient).status is ItemStatus.PENDING


def test_one_crash_in_company_and_two_alone_are_poison():
    endings = [after_crash(an_item(crashes=n), "SIGSEGV", POLICY) for n in range(3)]
    assert [found.status for found in endings] == [
        ItemStatus.PENDING,
        ItemStatus.PENDING,
        ItemStatus.ERROR,
    ]
    assert [found.alone for found in endings] == [True, True, False]
    assert all(found.crashed and not found.counted for found in endings)
    assert [found.error_class for found in endings] == [
        FaultClass.CRASHED,
        FaultClass.CRASHED,
        FaultClass.POISON,
    ]
    assert [found.reason for found in endings[:2]] == [
        "was running when its process crashed (SIGSEGV); runs alone next",
        "its process crashed 2 times while running it (SIGSEGV); runs alone next",
    ]
    assert "died 3 times" in str(endings[-1].reason)
    assert "SIGSEGV" in str(endings[-1].reason)


@pytest.mark.parametrize(("failures", "step_s"), [(1, 5.0), (2, 30.0), (3, 180.0), (4, 600.0)])
def test_backoff_grows_to_its_cap_with_full_jitter(failures: int, step_s: float):
    rng = Random(7)
    waits = [backoff_s(failures, POLICY, rng) for _ in range(500)]
    assert 0 <= min(waits) < step_s * 0.05
    assert step_s * 0.95 < max(waits) <= step_s


def test_backoff_after_countless_failures_is_still_a_number():
    assert backoff_s(10_000, POLICY, Random(1)) <= POLICY.backoff_cap_s
