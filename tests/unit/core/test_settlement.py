"""An outcome becomes one write, and decides each counter of the item."""

import pytest

from headgate.core.item import ClaimedItem
from headgate.core.retry import FINISHED, RetryDecision, RetryPolicy, after_crash
from headgate.core.settlement import hand_back, settle
from headgate.core.status import ItemStatus

ITEM = ClaimedItem(7, 3, "k", "{}", None, 4, 2, 1, 1, 1, True, 0)
THROTTLED = RetryDecision(ItemStatus.PENDING, "throttled", counted=False, throttled=True)


def test_a_settlement_carries_the_fence_of_its_lease():
    settlement = settle(ITEM, FINISHED, "{}")
    assert (settlement.item_id, settlement.job_id, settlement.epoch) == (7, 3, 4)


def test_an_attempt_that_counts_is_counted_once():
    assert settle(ITEM, FINISHED).attempts == 3
    assert settle(ITEM, THROTTLED).attempts == 2


def test_a_failure_and_a_miss_are_counted_separately():
    failed = settle(ITEM, RetryDecision(ItemStatus.PENDING, "retry", failed=True))
    assert (failed.failures, failed.strategy) == (2, 1)
    missed = settle(ITEM, RetryDecision(ItemStatus.PENDING, "not_found", missed=True))
    assert (missed.failures, missed.strategy) == (1, 2)


@pytest.mark.parametrize("verdict", [FINISHED, THROTTLED])
def test_an_execution_that_ended_by_itself_clears_suspicion(verdict: RetryDecision):
    settlement = settle(ITEM, verdict)
    assert (settlement.crashes, settlement.suspect) == (0, False)


def test_an_attempt_that_was_refused_at_a_gate_proves_nothing():
    """Else a row that crashes would return to its neighbours, and take them along again."""
    turned_away = RetryDecision(
        ItemStatus.PENDING, "throttled", counted=False, throttled=True, turned_away=True
    )
    settlement = settle(ITEM, turned_away)
    assert (settlement.crashes, settlement.suspect) == (ITEM.crashes, True)


def test_a_crash_adds_suspicion_and_no_attempt():
    settlement = settle(ITEM, after_crash(ITEM, "SIGSEGV", RetryPolicy()))
    assert (settlement.crashes, settlement.suspect, settlement.attempts) == (2, True, 2)


def test_handing_back_changes_nothing_but_the_lease():
    settlement = hand_back(ITEM, "told to stop", ran_us=5)
    assert settlement.status is ItemStatus.PENDING
    kept = (settlement.attempts, settlement.failures, settlement.crashes, settlement.suspect)
    assert kept == (ITEM.attempts, ITEM.failures, ITEM.crashes, ITEM.suspect)
    assert (settlement.reason, settlement.ran_us, settlement.due_in_us) == ("told to stop", 5, 0)


@pytest.mark.parametrize(
    ("reason", "stored"),
    [
        ("plain", "plain"),
        ("be\0fore", "be\\0fore"),
        ("half \udcff", "half \\udcff"),
        (5, "5"),
        (None, None),
    ],
)
def test_a_reason_is_text_that_every_store_can_keep(reason: object, stored: str | None):
    verdict = RetryDecision(ItemStatus.SKIPPED, "skipped", reason=reason)  # type: ignore[arg-type]
    assert settle(ITEM, verdict).reason == stored


def test_a_reason_is_bounded():
    endless = RetryDecision(ItemStatus.SKIPPED, "skipped", reason="long " * 1_000_000)
    assert len(str(settle(ITEM, endless).reason)) == 2_000
