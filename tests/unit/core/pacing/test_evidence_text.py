"""The sentences of the evidence."""

import pytest

from headgate.core.pacing.evidence_text import (
    asked_again,
    in_time,
    known_now,
    per_time,
    refused_at,
    tried_next,
)


@pytest.mark.parametrize(
    ("rate", "words"),
    [(299.7, "300/s"), (12.34, "12.3/s"), (1.0, "1/s"), (0.42, "25.2/min"), (0.01, "36/h")],
)
def test_a_rate_is_said_in_the_unit_that_fits(rate: float, words: str):
    assert per_time(rate) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.149, "0.15 s"), (1.0, "1 s"), (31.0, "31 s"), (3_600.0, "60 min")]
)
def test_a_span_is_said_in_the_unit_that_fits(seconds: float, words: str):
    assert in_time(seconds) == words


def test_what_was_seen():
    assert refused_at(300.0) == "refused at 300/s"
    assert refused_at(300.0, "below the known limit") == "refused at 300/s, below the known limit"


def test_what_was_decided_names_the_change():
    assert known_now(300.0, 279.0, 30.0) == "limit lowered to 279/s, next probe in 30 s"
    assert known_now(200.0, 210.0, 8.0) == "limit raised to 210/s, next probe in 8 s"
    assert known_now(200.0, 200.0, 8.0) == "limit stays at 200/s, next probe in 8 s"
    assert known_now(None, 10.0, 0.0) == "limit taken as 10/s, probing for more from there"
    assert tried_next(13.4) == "trying 13.4/s next"


def test_when_something_is_sent_again():
    assert asked_again(1.0, alone=True) == "one request tries again in 1 s"
    assert asked_again(31.0, alone=False) == "sending again in 31 s"
