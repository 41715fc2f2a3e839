"""Limits are read as people write them."""

import pytest

from headgate.core.pacing.pace import Pace
from headgate.core.rate import Ceilings, Limit, parse_limits


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("", ()),
        ("  ", ()),
        ("5/s", (Limit(5, 1),)),
        ("10/s, 100/min", (Limit(10, 1), Limit(100, 60))),
        ("1/3s", (Limit(1, 3),)),
        ("0.5 / Second", (Limit(0.5, 1),)),
        ("90000/minute", (Limit(90_000, 60),)),
        ("2000/h", (Limit(2_000, 3_600),)),
        ("100000/day", (Limit(100_000, 86_400),)),
        ("1/2.5 min", (Limit(1, 150),)),
    ],
)
def test_a_limit_is_a_count_and_a_span(text: str, limits: tuple[Limit, ...]):
    assert parse_limits(text) == limits


@pytest.mark.parametrize(
    "text",
    ["5", "5 per s", "/s", "-1/s", "5/fortnight", "5/s,", "0/s", "1/0s", "1e9/s", "5/400day"],
)
def test_what_is_not_a_limit_is_refused_with_an_example(text: str):
    with pytest.raises(ValueError, match=r"is not a limit: "):
        parse_limits(text)


@pytest.mark.parametrize(
    ("before", "after", "wait_s"),
    [
        ("10/s, 100/min", "100/min", 0.6),
        ("100/min", "10/s, 100/min", 0.6),
        ("10/s", "", 0.0),
        ("1/day", "100/s", 1.01),
        ("100/min", "100/min", 0.6),
    ],
)
def test_a_pace_goes_on_under_other_limits_than_those_it_was_stored_with(
    before: str, after: str, wait_s: float
):
    old = Pace(Ceilings(parse_limits(before)))
    old.on_send(1_000.0, 1)
    new = Pace.from_state(old.remembered(), Ceilings(parse_limits(after)))
    opens_at = new.limits.opens_at(new.state.ceiling_due)
    assert max(opens_at - 1_000.0, 0.0) == pytest.approx(wait_s)
    new.on_send(1_100.0, 1)
    assert len(new.state.ceiling_due) == len(new.limits.limits)
