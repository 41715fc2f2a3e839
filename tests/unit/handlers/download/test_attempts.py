"""The outcome of an item for which no URL led to a file."""

import itertools

import pytest

from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.outcome import GiveUp, NotFound, Skipped
from headgate.core.verification import Finding, Flaw
from headgate.handlers.download.attempts import (
    Weight,
    bad_status,
    miss_of,
    miss_of_reading,
    outcome_of,
    unfit,
)
from headgate.handlers.download.plan import ResolverResult, ResolverVerdict

GONE = bad_status(404).miss("crossref", "http://a/1")
FORBIDDEN = bad_status(403).miss("crossref", "http://a/2")
DOWN = bad_status(502).miss("crossref", "http://a/3")
BARRED = miss_of(AttemptOver(Skipped("robots.txt")), "crossref", "http://a/4")


def throttled(wait_s: float, gate: str):
    fault = Fault(FaultClass.THROTTLED, f"{gate} is closed", wait_s, gate)
    return miss_of(AttemptOver(fault), "crossref", f"http://{gate}/5")


LATER, SOON = throttled(90.0, "late.example"), throttled(40.0, "soon.example")


def test_nothing_asked_is_nothing_found():
    ended = outcome_of([], "")
    assert isinstance(ended, NotFound)
    assert ended.result == {"reason": "no-file", "resolver": None, "url": None, "tried": []}


@pytest.mark.parametrize(
    ("misses", "kind"),
    [
        ([GONE], NotFound),
        ([GONE, BARRED], GiveUp),
        ([GONE, BARRED, FORBIDDEN], GiveUp),
        ([GONE, BARRED, FORBIDDEN, DOWN], FaultClass.TRANSIENT),
        ([GONE, BARRED, FORBIDDEN, DOWN, LATER], FaultClass.THROTTLED),
    ],
)
def test_what_is_worth_waiting_for_comes_before_what_is_final(misses, kind):
    decisive = misses[-1]
    for order in itertools.permutations(misses):
        ended = outcome_of(order, "http://given")
        assert (ended.kind if isinstance(ended, Fault) else type(ended)) == kind
        assert ended.result["reason"] == decisive.reason
        assert ended.result["url"] == decisive.url
        assert [each["url"] for each in ended.result["tried"]] == [
            miss.url for miss in order if miss is not decisive
        ]


def test_of_several_closed_gates_the_first_to_open_is_waited_for():
    ended = outcome_of([LATER, SOON], "")
    assert isinstance(ended, Fault)
    assert (ended.retry_after_s, ended.gate) == (40.0, "soon.example")


@pytest.mark.parametrize(
    ("status", "weight"),
    [
        (404, Weight.ABSENT),
        (410, Weight.ABSENT),
        (401, Weight.UNFIT),
        (451, Weight.UNFIT),
        (204, Weight.UNFIT),
        (202, Weight.FAILED),
        (408, Weight.FAILED),
        (425, Weight.FAILED),
        (500, Weight.FAILED),
        (503, Weight.FAILED),
    ],
)
def test_what_a_status_says_of_a_place(status, weight):
    assert bad_status(status).weight is weight


@pytest.mark.parametrize(
    ("reading", "weight"),
    [
        (ResolverResult(ResolverVerdict.UNKNOWN), Weight.ABSENT),
        (ResolverResult(ResolverVerdict.NO_FILE), Weight.ABSENT),
        (ResolverResult(ResolverVerdict.FAULT, status=403), Weight.UNFIT),
        (ResolverResult(ResolverVerdict.FAULT, status=500), Weight.FAILED),
        (ResolverResult(ResolverVerdict.UNREADABLE, status=200), Weight.FAILED),
    ],
)
def test_a_service_that_failed_is_not_one_that_knows_nothing(reading, weight):
    miss = miss_of_reading("hal", reading)
    assert miss is not None
    assert miss.weight is weight


@pytest.mark.parametrize("verdict", [ResolverVerdict.FOUND, ResolverVerdict.NOT_ASKED])
def test_a_service_that_was_not_asked_has_not_failed(verdict):
    assert miss_of_reading("hal", ResolverResult(verdict)) is None


def test_what_was_put_together_from_two_tries_gets_another():
    flaw = Finding(Flaw.CUT_OFF)
    assert unfit(flaw, 200).weight is Weight.UNFIT
    assert unfit(flaw, 206, resumed=True).weight is Weight.FAILED
    assert unfit(Finding(Flaw.HTML_INSTEAD), 206, resumed=True).weight is Weight.UNFIT
