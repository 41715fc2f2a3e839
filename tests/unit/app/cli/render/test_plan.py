"""Limits and rates of a plan, as a person writes them."""

import pytest

from headgate.app.cli.render.plan import limit_text, per_time
from headgate.core.rate import parse_limits


@pytest.mark.parametrize("text", ["10/s", "2.5/s", "100000/day", "1500000/h", "100/3s"])
def test_a_limit_is_written_as_in_the_settings(text: str):
    assert [limit_text(limit) for limit in parse_limits(text)] == [text]


@pytest.mark.parametrize(
    ("per_s", "text"), [(12_345.6, "12,346/s"), (9.434, "9.43/s"), (1 / 90, "40/h")]
)
def test_a_rate_has_no_exponent(per_s: float, text: str):
    assert per_time(per_s) == text
