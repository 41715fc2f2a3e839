"""Waits at gates add up, and overlapping waits count once."""

from headgate.core.gates.wait import GateTime


def test_waits_one_after_the_other_add_up():
    time = GateTime()
    for start_s in (10.0, 20.0, 30.0):
        time.begin(start_s)
        time.end(start_s + 4.0)
    assert time.total_s(100.0) == 12.0
    assert not time.is_waiting


def test_a_wait_that_has_not_ended_counts_up_to_now():
    time = GateTime()
    time.begin(10.0)
    assert time.is_waiting
    assert time.total_s(13.0) == 3.0
    assert time.total_s(18.0) == 8.0


def test_waits_that_overlap_count_once():
    time = GateTime()
    time.begin(10.0)
    time.begin(12.0)
    time.end(15.0)
    assert time.is_waiting
    time.end(20.0)
    assert time.total_s(50.0) == 10.0
