"""Times that a handler may return, and the messages for invalid ones."""

import pytest

from headgate.core.fault import Fault, FaultClass
from headgate.core.outcome import RetryLater
from headgate.engine.result import outcome_of


@pytest.mark.parametrize("after", [30, 0.5, 0, -5, -1e9])
def test_any_finite_number_of_seconds_is_a_time(after: float):
    asked = RetryLater(after=after)
    assert outcome_of(asked) is asked


@pytest.mark.parametrize(
    "after", [float("nan"), float("inf"), float("-inf"), "30", None, True, 10**400]
)
def test_an_invalid_number_of_seconds_is_refused_with_advice(after: object):
    found = outcome_of(RetryLater(after=after))  # type: ignore[arg-type]
    assert isinstance(found, Fault)
    assert found.kind is FaultClass.INVALID_RESULT
    assert "RetryLater(after=" in found.reason
    assert "`after` is seconds, such as 30" in found.reason
