"""When a job is far slower than it could be."""

import pytest

from headgate.core.gates.wait import Wait, WaitKind
from headgate.core.slow_job import expected_per_s, is_slow
from tests.unit.core.test_waiting import closed, down, slow

AT_CATALOG = {"gate": "provider:catalog"}


def test_the_gate_and_the_handlers_say_what_a_job_could_do():
    wait = Wait(WaitKind.RATE, "catalog: the learned rate", **AT_CATALOG)
    assert expected_per_s(wait, [slow()], 32, None) == pytest.approx(11.6)
    assert expected_per_s(wait, [slow()], 32, 16.0) == pytest.approx(2.0)
    assert expected_per_s(Wait(WaitKind.HANDLER, "busy"), [slow()], 32, 16.0) == pytest.approx(2.0)


def test_a_silent_host_leaves_the_rate_of_its_gate():
    wait = Wait(WaitKind.BREAKER, "does not answer", **AT_CATALOG)
    assert expected_per_s(wait, [down()], 32, None) == pytest.approx(11.6)


def test_nothing_is_expected_of_a_closed_gate_or_where_nothing_is_known():
    wait = Wait(WaitKind.REFUSED, "asked to wait", **AT_CATALOG)
    assert not is_slow(0.0, expected_per_s(wait, [closed()], 32, 1.0))
    unknown = expected_per_s(Wait(WaitKind.HANDLER, "busy"), (), 32, None)
    assert unknown is None
    assert not is_slow(0.0, unknown)


@pytest.mark.parametrize(
    "kind",
    [
        WaitKind.PAUSED,
        WaitKind.READING,
        WaitKind.DEFERRED,
        WaitKind.RETRY,
        WaitKind.PROVIDER_PAUSED,
        WaitKind.BUDGET,
        WaitKind.TURN,
    ],
)
def test_a_wait_that_was_asked_for_is_not_slow(kind):
    assert expected_per_s(Wait(kind, "so be it", **AT_CATALOG), [slow()], 32, 1.0) is None


def test_below_a_twentieth_a_job_is_slow():
    assert is_slow(0.0, 10.0)
    assert is_slow(0.49, 10.0)
    assert not is_slow(0.5, 10.0)
    assert not is_slow(None, 10.0), "it was not watched for long enough"
