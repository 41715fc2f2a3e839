"""A level that is only remembered: gone up to, and given up where it is refused on the way."""

import pytest

from headgate.core.pacing.level import Level
from headgate.core.pacing.pace import REST_S, Pace
from tests.kit.pace_run import LATENCY, START, Run

NIGHT_S = 36_000.0


def remembering(rate: float) -> Pace:
    pace = Pace()
    pace.state.rate.set(rate, 60.0, 2.0, 2.5)
    pace.state.settled, pace.state.sent_at = True, START
    return pace


def gap_after(pace: Pace, now: float) -> float:
    pace.on_send(now, 1)
    pace.on_reply(now, now, 1, 200, {}, LATENCY)
    return pace.gate(now, 0) - now


def test_after_a_night_the_remembered_level_is_reached_within_seconds():
    pace, now = remembering(100.0), START + NIGHT_S
    assert gap_after(pace, now) == pytest.approx(1 / (Level.RAMP_FROM * 98.5), rel=0.01)
    assert gap_after(pace, now + Level.RAMP_S) == pytest.approx(1 / 98.5, rel=0.01)


def test_a_short_rest_changes_nothing():
    pace = remembering(100.0)
    assert gap_after(pace, START + REST_S - 1) == pytest.approx(1 / 98.5, rel=0.01)


def test_a_slow_rate_is_not_a_rest():
    pace = remembering(0.01)
    gap_after(pace, START + 1)
    slow = gap_after(pace, START + 120)
    assert slow == pytest.approx(100, rel=0.05)


def test_a_refusal_on_the_way_up_says_that_the_limit_has_fallen():
    run = Run(remembering(100.0))
    run.now = START + NIGHT_S
    run.deliver(2)
    run.send(429)
    assert run.pace.state.stop.resuming
    run.deliver(3)
    assert run.pace.learned is not None
    assert run.pace.learned < 50
    assert not run.pace.state.settled
