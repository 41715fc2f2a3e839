"""The steps on the way to an item."""

import pytest

from headgate.app.download.manifest import step_name, steps_of
from headgate.core.call import CallKind
from headgate.core.status import ItemStatus
from tests.unit.app.download.histories import FILE, attempt, call, history


@pytest.mark.parametrize(
    ("kind", "verb", "status", "step"),
    [
        (CallKind.FETCHED, "HEAD", 200, "http-head"),
        (CallKind.FETCHED, "GET", 200, "http-200"),
        (CallKind.FETCHED, "GET", 206, "http-get"),
        (CallKind.FETCHED, "GET", 404, "http-get"),
        (CallKind.FETCHED, "POST", 200, "http-post"),
        (CallKind.REVALIDATED, "GET", 304, "http-304"),
        (CallKind.CACHED, "GET", 200, "cache-hit"),
        (CallKind.SHARED, "GET", 200, "cache-hit"),
        (CallKind.REFUSED, "GET", 429, "http-get"),
        (CallKind.FAILED, "GET", 0, "http-get"),
        (CallKind.BARRED, "GET", 0, "robots"),
    ],
)
def test_names_of_steps(kind: CallKind, verb: str, status: int, step: str):
    assert step_name(call(kind, status, verb=verb)) == step


def test_every_call_every_failed_plan_and_every_ending_is_a_step():
    tried = [
        {"resolver": "crossref", "url": None, "reason": "no-file", "status": None},
        {"resolver": "arxiv", "url": "https://c.example:81/z", "reason": "http-404", "status": 404},
    ]
    attempts = [
        attempt(
            "throttled",
            call(CallKind.REFUSED, 429, provider="unpaywall", waited_ms=5.0, cause="pace"),
            number=0,
            error_class="throttled",
            reason="asked to wait",
        ),
        attempt("done", call(verb="HEAD", bytes=0), call(), number=1),
    ]
    steps = list(steps_of(history(attempts=attempts, result={**FILE, "tried": tried})))
    assert [(one.attempt, one.step, one.resolver, one.host, one.reason) for one in steps] == [
        (0, "http-get", "unpaywall", "a.example", "pace"),
        (0, "retry", "", "", "throttled: asked to wait"),
        (1, "http-head", "unpaywall", "a.example", ""),
        (1, "http-200", "unpaywall", "a.example", ""),
        (1, "plan", "crossref", "", "no-file"),
        (1, "plan", "arxiv", "c.example:81", "http-404"),
        (1, "done", "", "", ""),
    ]
    assert {one.id for one in steps} == {"doi:10.1234/abc"}
    first, last = steps[0], steps[-1]
    assert (first.status, first.bytes, first.ran_ms, first.waited_ms) == (429, 2_000, 12.346, 5.0)
    assert (last.status, last.ran_ms, last.waited_ms) == (None, 2_000.0, 1_000.0)
    assert (first.at, last.at) == ("2023-11-14T22:13:20.000000Z", "2023-11-14T22:14:20.000000Z")


def test_an_unnamed_host_belongs_to_the_only_resolver_that_named_a_url():
    elsewhere = attempt("done", call(host="redirected.example"))
    (step, _) = steps_of(history(attempts=[elsewhere], result=FILE))
    assert step.resolver == "unpaywall"
    tried = [{"resolver": "arxiv", "url": "https://c.example/z", "reason": "http-404"}]
    (step, *_) = steps_of(history(attempts=[elsewhere], result={**FILE, "tried": tried}))
    assert step.resolver == ""


def test_an_answer_that_another_caller_fetched_says_so():
    (step, _) = steps_of(history(attempts=[attempt("done", call(CallKind.SHARED))]))
    assert (step.step, step.reason) == ("cache-hit", "shared")


def test_a_row_that_was_never_tried_has_no_steps():
    assert list(steps_of(history(ItemStatus.SKIPPED))) == []
