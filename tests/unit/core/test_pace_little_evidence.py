"""What little evidence must not lead to."""

import pytest

from headgate.core.pacing.pace import Pace
from headgate.core.pacing.state import Cause
from headgate.core.rate import Ceilings, Limit

START = 1_800_000_000.0


def send(pace: Pace, now: float) -> float:
    """Send one as soon as it may go; when that was."""
    at = max(pace.gate(now, 0), now)
    pace.on_send(at, 1)
    return at


@pytest.mark.parametrize("retry_after", ["1", "3", "60", "3600"])
def test_a_refusal_before_anything_was_delivered_says_little_of_the_rate(retry_after: str):
    pace = Pace()
    sent = send(pace, START)
    pace.on_reply(sent + 0.05, sent, 1, 429, {"retry-after": retry_after}, 0.05)
    now = sent + float(retry_after)
    for _ in range(20):
        sent = send(pace, now)
        pace.on_reply(sent + 0.05, sent, 1, 200, {}, 0.05)
        now = sent + 0.05
    assert now - START < float(retry_after) + 20


def test_a_configured_rate_below_the_learned_one_is_named_as_the_cause():
    pace = Pace(Ceilings(limits=(Limit(2.0, 1.0),)), start=10.0)
    sent = send(pace, START)
    pace.on_reply(sent + 0.01, sent, 1, 200, {}, 0.01)
    assert pace.gate(sent + 0.02, 0) == pytest.approx(sent + 0.5)
    assert pace.why(sent + 0.02) is Cause.CEILING
