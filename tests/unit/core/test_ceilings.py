"""Configured limits: kept from the first request on, and never exceeded."""

import pytest

from headgate.core.pacing.pace import COLD_START, Pace
from headgate.core.pacing.state import Cause
from headgate.core.rate import Ceilings, Limit
from tests.kit.pace_run import LATENCY, START, Run

FAST = Ceilings(limits=(Limit(200.0, 1.0),))


def sent_within(pace: Pace, seconds: float) -> int:
    """As many as are let out, each answered at once."""
    now, count = START, 0
    while (now := max(pace.gate(now, 0), now)) < START + seconds:
        pace.on_send(now, 1)
        pace.on_reply(now, now, 1, 200, {}, LATENCY)
        count += 1
    return count


def test_without_limits_there_is_no_ceiling():
    assert Ceilings().rate is None
    assert Ceilings().opens_at([]) == 0.0


def test_a_configured_rate_applies_from_the_start():
    pace = Pace(FAST)
    assert sent_within(pace, 5.0) == pytest.approx(1_000, abs=1)
    assert pace.rate(START + 5) == 200.0
    assert pace.state.bound is Cause.CEILING
    assert pace.learned is None


def test_without_a_declared_limit_the_start_is_cold():
    assert Pace().rate(START) == COLD_START


def test_a_burst_of_a_configured_rate_needs_no_learning():
    pace = Pace(Ceilings(limits=(Limit(2.0, 1.0),), burst=5))
    assert sent_within(pace, 0.4) == 5


def test_a_refusal_below_the_configured_rate_is_learned_from():
    run = Run(Pace(Ceilings(limits=(Limit(5.0, 1.0),))))
    run.deliver(40)
    run.send(429)
    run.deliver(10)
    assert run.pace.learned is None, "one refusal proves nothing"
    run.send(429)
    run.deliver(5)
    assert run.pace.learned == pytest.approx(0.85 * 5)
    assert run.pace.rate(run.now) < 5


def test_the_ceiling_holds_whatever_is_learned():
    run = Run(Pace(Ceilings(limits=(Limit(5.0, 1.0),))))
    run.send(429)
    run.for_seconds(300)
    assert run.pace.rate(run.now) == 5.0
    assert run.for_seconds(60) <= 301
