"""What is written when an attempt ends."""

import msgspec
import pytest

from headgate.core.item import ClaimedItem
from headgate.core.retry import FINISHED, RetryPolicy, Verdict, after_crash
from headgate.core.settlement import hand_back, settle
from headgate.core.status import ItemStatus

SUSPECT = ClaimedItem(7, 3, "k", "{}", None, 5, 2, 1, 1, 1, True, 0)


def test_an_execution_that_ended_by_itself_counts_and_clears_suspicion():
    done = settle(SUSPECT, FINISHED, '{"a":1}')
    assert (done.attempts, done.crashes, done.suspect) == (3, 0, False)
    assert (done.item_id, done.job_id, done.epoch) == (7, 3, 5)


def test_a_crash_adds_to_the_suspicion_and_costs_no_attempt():
    crashed = settle(SUSPECT, after_crash(SUSPECT, "killed", RetryPolicy()))
    assert (crashed.attempts, crashed.crashes, crashed.suspect) == (2, 2, True)


def test_what_is_handed_back_keeps_everything_it_had():
    back = hand_back(SUSPECT, "told to stop")
    assert (back.status, back.outcome) == (ItemStatus.PENDING, "handed_back")
    kept = (back.attempts, back.failures, back.crashes, back.strategy, back.suspect)
    assert kept == (2, 1, 1, 1, True)


def test_waiting_for_a_provider_clears_suspicion_without_counting():
    throttled = settle(SUSPECT, Verdict(ItemStatus.PENDING, "throttled", False, throttled=True))
    assert (throttled.attempts, throttled.crashes, throttled.suspect) == (2, 0, False)


@pytest.mark.parametrize("reason", ["a\0b", "half \ud800 a character"])
def test_a_reason_can_be_stored_whatever_is_in_it(reason):
    stored = settle(SUSPECT, Verdict(ItemStatus.ERROR, "error", reason=reason)).reason
    assert stored is not None
    assert "\0" not in stored
    stored.encode()


def test_a_batch_is_one_json_array_of_arrays():
    [row] = msgspec.json.decode(msgspec.json.encode([settle(SUSPECT, FINISHED)]))
    assert row[:5] == [7, 3, 5, "DONE", "done"]
