"""Moments on time lines that several processes share."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.gates.send_slots import SendSlots, SlotLines

NOW = 1_800_000_000.0
TEN = SlotLines(rate=10.0, part=0.5, members=2)


def booked(bookings: SendSlots, lines: list[float], now: float, standing: SlotLines) -> list[float]:
    """The lines after a proposal that was kept."""
    lines = bookings.book(lines, now, standing)
    bookings.accept()
    return lines


def moments(bookings: SendSlots, now: float) -> list[float]:
    """All that are ours, in order."""
    found = []
    while (at := bookings.next(now)) < math.inf:
        found.append(at)
        bookings.use()
    return found


def test_two_processes_get_alternating_send_slots():
    mine, other = SendSlots(), SendSlots()
    lines = booked(mine, [], NOW, TEN)
    booked(other, lines, NOW, TEN)
    ours, theirs = moments(mine, NOW), moments(other, NOW)
    assert [later - at for at, later in pairwise(ours)] == pytest.approx(
        [0.2] * (len(ours) - 1), abs=1e-5
    )
    assert [later - at for at, later in zip(ours, theirs, strict=True)] == pytest.approx(
        [0.1] * 2, abs=1e-5
    )


def test_a_process_owns_no_slot_before_its_proposal_is_accepted():
    bookings = SendSlots()
    bookings.book([], NOW, TEN)
    assert bookings.offered > 0
    assert bookings.next(NOW) == math.inf


def test_a_process_with_a_larger_part_books_on_several_lines():
    bookings = SendSlots()
    booked(bookings, [], NOW, SlotLines(rate=10.0, part=1.0, members=2))
    gaps = [later - at for at, later in pairwise(moments(bookings, NOW))]
    assert gaps == pytest.approx([0.1] * 4, abs=1e-5)


def test_a_process_that_had_less_books_more():
    behind, ahead = SendSlots(), SendSlots()
    booked(behind, [], NOW, SlotLines(rate=40.0, part=0.5, members=2, lag=3.0))
    booked(ahead, [], NOW, SlotLines(rate=40.0, part=0.5, members=2, lag=-3.0))
    assert (len(moments(behind, NOW)), len(moments(ahead, NOW))) == (13, 7)


def test_a_slow_gate_gives_each_process_at_least_its_next_slot():
    lines: list[float] = []
    processes = [SendSlots() for _ in range(4)]
    for bookings in processes:
        lines = booked(bookings, lines, NOW, SlotLines(rate=0.5, part=0.25, members=4))
    first = [moments(bookings, NOW) for bookings in processes]
    assert [len(each) for each in first] == [1, 1, 1, 1]


def test_nothing_is_booked_far_ahead():
    bookings = SendSlots()
    lines = [NOW + 5.0, NOW + 5.1]
    assert booked(bookings, lines, NOW, TEN) == lines
    assert bookings.next(NOW) == math.inf


def test_new_lines_begin_behind_all_that_is_booked_or_due():
    lines = SendSlots().book([NOW + 0.4], NOW, TEN)
    assert min(lines) >= NOW + 0.4
    due = SlotLines(rate=10.0, part=0.5, members=2, free_from=NOW + 0.7)
    assert min(SendSlots().book([], NOW, due)) >= NOW + 0.7


def test_a_moment_may_be_used_late_but_not_forever():
    bookings = SendSlots()
    booked(bookings, [], NOW, SlotLines(rate=1.0, part=0.1, members=2))
    assert bookings.next(NOW + 0.1) < NOW + 0.1
    assert bookings.next(NOW + 5) == math.inf


def test_a_stop_ends_all_bookings():
    bookings = SendSlots()
    booked(bookings, [], NOW, TEN)
    bookings.clear()
    assert bookings.next(NOW) == math.inf


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(0.0, 0.4), st.floats(0.05, 1.0)), max_size=60),
    st.floats(1, 200),
)
def test_every_slot_belongs_to_one_process(steps: list[tuple[int, float, float]], rate: float):
    processes, used = [SendSlots() for _ in range(4)], []
    now, lines = NOW, list[float]()
    for who, wait, part in steps:
        now += wait
        mine = processes[who]
        lines = booked(mine, lines, now, SlotLines(rate, part, members=4))
        while mine.next(now) <= now:
            used.append(mine.next(now))
            mine.use()
    assert all(later - before > 0.99 / rate for before, later in pairwise(sorted(used)))
