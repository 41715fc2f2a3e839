"""The pace of one gate against replies that a test makes up: decisions, and laws that always hold."""

import msgspec

from headgate.core.pace import Pace
from headgate.core.pace_state import PaceState

LATENCY = 0.1


def send(pace: Pace, now: float, status: int = 200, **headers: str) -> float:
    """One request as soon as the pace lets it out, answered after a tenth of a second."""
    at = max(pace.gate(now, 0), now)
    pace.on_send(at, 1)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    pace.on_reply(at + LATENCY, at, 1, status, named, LATENCY)
    return at


def test_the_first_request_goes_at_once():
    assert Pace().gate(1000.0, 0) == 1000.0


def test_a_refusal_stops_until_the_stated_time():
    pace = Pace()
    at = send(pace, 1000.0, 429, retry_after="7")
    assert pace.gate(at + LATENCY, 0) == at + LATENCY + 7


def test_the_state_survives_being_written_down():
    pace = Pace()
    now = 1000.0
    for turn in range(60):
        now = send(pace, now, 429 if turn % 20 == 19 else 200)
    written = msgspec.json.encode(pace.remembered())
    again = Pace.from_state(msgspec.json.decode(written, type=PaceState))
    assert again.remembered() == pace.remembered()
    assert again.gate(now + 1, 0) == pace.gate(now + 1, 0)
