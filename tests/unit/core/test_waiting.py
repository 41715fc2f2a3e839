"""What decides the speed of a job: one cause for each situation, and their order."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.gates.state import HostDown
from headgate.core.gates.view import GateView
from headgate.core.gates.wait import Wait, WaitKind, rate_text
from headgate.core.job import Counts, Job
from headgate.core.pacing.state import Cause
from headgate.core.status import JobState
from headgate.core.waiting import (
    COUNTED,
    FLOWING_US,
    SILENT_US,
    Deferral,
    Situation,
    expected_per_s,
    is_at_work,
    is_slow,
    why_job,
)

NOW_US = 1_800_000_000_000_000
NOW_S = NOW_US / 1e6
MINUTE_US = 60_000_000


def a_job(**changes: Any) -> Job:
    facts: dict[str, Any] = {
        "id": 3,
        "owner": "local",
        "name": "",
        "handler": "h",
        "source": "s",
        "key_columns": (),
        "config": {},
        "priority": 0,
        "state": JobState.RUNNING,
        "open": False,
        "eager": False,
        "fingerprint": "",
        "columns": (),
        "ingest_run": 1,
        "ingest_position": "",
        "ingest_complete": True,
        "created_at": NOW_US,
        "updated_at": NOW_US,
        "started_at": None,
        "finished_at": None,
        "last_error": None,
    }
    return Job(**{**facts, **changes})


def at(**changes: Any) -> Situation:
    """A job at full speed: rows are due, taken and finished."""
    facts: dict[str, Any] = {
        "now_us": NOW_US,
        "counts": Counts(pending=100, processing=32, done=500),
        "due": True,
        "finished_us": NOW_US - 1,
        "workers": 1,
    }
    return Situation(**{**facts, **changes})


STILL: dict[str, Any] = {"finished_us": NOW_US - 90_000_000}
"""Nothing has been finished for long."""
IDLE: dict[str, Any] = {**STILL, "counts": Counts(pending=100, done=500)}


def gate(key: str = "provider:catalog", **changes: Any) -> GateView:
    facts: dict[str, Any] = {
        "key": key,
        "kind": key.partition(":")[0],
        "name": key.partition(":")[2],
        "asked": True,
        "now_per_s": 11.6,
    }
    return GateView(**{**facts, **changes})


def slow(key: str = "provider:catalog", **changes: Any) -> GateView:
    facts = {"cause": Cause.RATE, "why": "the learned rate", "waiting": True, **changes}
    return gate(key, **facts)


def closed(cause: str = Cause.RETRY_AFTER, in_s: float | None = 25.0, **changes: Any) -> GateView:
    until = None if in_s is None else NOW_S + in_s
    facts = {"cause": cause, "why": "closed", "closed": True, "closed_until": until, **changes}
    return gate(**{"now_per_s": 0.0, **facts})


def down(
    key: str = "provider:catalog", reason: str = "connection refused", **changes: Any
) -> GateView:
    hosts = {"127.0.0.1:18204": HostDown(NOW_S + 35.0, reason, NOW_S - 10.0)}
    return gate(key, **{"down": hosts, **changes})


def later(
    error_class: str, count: int = 30, in_us: int = 2 * MINUTE_US, gate: str = ""
) -> Deferral:
    return Deferral(error_class, gate, count, NOW_US + in_us, "the shop opens later")


def cause(situation: Situation, *gates: GateView, **job: Any) -> Wait:
    wait = why_job(a_job(**job), situation, gates)
    assert wait is not None
    return wait


@pytest.mark.parametrize("state", [JobState.DONE, JobState.FAILED, JobState.CANCELLED])
def test_a_job_that_has_ended_waits_for_nothing(state):
    assert why_job(a_job(state=state), at(), [closed()]) is None


def test_a_queue_without_rows_waits_for_nothing():
    assert why_job(a_job(open=True), at(counts=Counts(done=3), due=False), ()) is None


def test_a_pause_comes_before_everything():
    wait = cause(
        at(workers=0, **IDLE),
        closed(),
        state=JobState.PAUSED,
        pause_reason="5 euros are spent",
        resume_at=NOW_US + 1,
    )
    assert (wait.kind, wait.until_us) == (WaitKind.PAUSED, NOW_US + 1)
    assert wait.why == "job 3 is paused (5 euros are spent)"


def test_a_file_that_is_read_is_reported_with_its_rows():
    reading = at(counts=Counts(pending=12_000), workers=0)
    wait = cause(reading, closed(), state=JobState.INGESTING, ingest={"at": NOW_US})
    assert wait.kind is WaitKind.READING
    assert wait.why == "reading the file… 12,000 rows read"
    first = cause(at(counts=Counts()), state=JobState.INGESTING)
    assert first.why == "reading the file…"


def test_a_file_that_no_command_reads_any_more():
    job = {"state": JobState.INGESTING, "ingest": {"at": NOW_US - SILENT_US - 1}}
    wait = cause(at(), **job)
    assert wait.kind is WaitKind.READING
    assert "run the same headgate command again" in wait.why
    assert not is_at_work(a_job(**job), at(workers=0))
    by_server = a_job(**job, reading={"format": "csv"})
    assert is_at_work(by_server, at(workers=0)), "a server goes on by itself"


def test_an_eager_job_is_worked_on_while_it_is_read():
    eager = {"state": JobState.INGESTING, "eager": True}
    assert cause(at(), **eager).kind is WaitKind.RUNNING
    assert cause(at(counts=Counts(done=9)), **eager).kind is WaitKind.READING


def test_a_host_that_refuses_connections_is_named_with_its_next_trial():
    wait = cause(at(), down("host:127.0.0.1:18204"))
    assert (wait.kind, wait.next) == (WaitKind.BREAKER, "next try")
    assert wait.why == "127.0.0.1:18204 does not answer (connection refused)"
    assert wait.until_us == pytest.approx(NOW_US + 35_000_000, abs=1_000)


def test_a_host_that_answers_errors_is_not_said_to_be_silent():
    wait = cause(at(**STILL), down(reason="answers 500 (38 of the last 40)"))
    assert (wait.kind, wait.gate, wait.next) == (WaitKind.BREAKER, "provider:catalog", "next try")
    assert wait.why == "paused itself: catalog keeps answering 500 (38 of the last 40)"


def test_a_silent_host_does_not_delay_the_others():
    silent = down("host:127.0.0.1:18204")
    assert cause(at(), silent, gate("host:b.org", in_flight=3)).kind is WaitKind.RUNNING
    assert cause(at(), silent, slow("host:b.org")).why == "b.org: the learned rate, 11.6/s"
    assert cause(at(), down(in_flight=3)).kind is WaitKind.RUNNING, "another host answers"
    assert cause(at(**STILL), down(in_flight=3)).kind is WaitKind.BREAKER
    rest = at(counts=Counts(pending=3), due=False, deferrals=[later("throttled")], **STILL)
    assert cause(rest, silent, gate("host:b.org")).kind is WaitKind.BREAKER


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (Cause.PAUSED, WaitKind.PROVIDER_PAUSED),
        (Cause.RETRY_AFTER, WaitKind.REFUSED),
        (Cause.STOPPED, WaitKind.REFUSED),
        (Cause.BUDGET, WaitKind.BUDGET),
        (Cause.TOLD, WaitKind.RATE),
    ],
)
def test_a_closed_gate_is_named_with_its_cause(given, kind):
    wait = cause(at(), closed(given))
    assert (wait.kind, wait.gate, wait.why) == (kind, "provider:catalog", "catalog: closed")
    assert wait.until_us == pytest.approx(NOW_US + 25_000_000, abs=1_000)


def test_of_several_closed_gates_the_first_to_open_is_named():
    gates = [
        closed(key="credential:pool/a", in_s=60.0),
        closed(key="credential:pool/b", in_s=5.0),
        closed(key="credential:pool/c", in_s=None),
    ]
    assert cause(at(**IDLE), *gates).gate == "credential:pool/b"


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (Cause.RATE, WaitKind.RATE),
        (Cause.TOLD, WaitKind.RATE),
        (Cause.CEILING, WaitKind.RATE),
        (Cause.WINDOW, WaitKind.RATE),
        ("set", WaitKind.RATE),
        (Cause.CAP, WaitKind.CAP),
        (Cause.CONCURRENCY, WaitKind.CAP),
    ],
)
def test_an_open_gate_with_waiting_requests_is_named(given, kind):
    assert cause(at(), slow(cause=given)).kind is kind


def test_the_fastest_gate_with_waiting_requests_decides():
    gates = [slow("host:a.org", now_per_s=1.0), slow("host:b.org", now_per_s=9.0)]
    assert cause(at(), *gates, closed(key="host:c.org")).gate == "host:b.org"


def test_a_rate_is_a_figure_only_where_it_is_the_cause():
    assert cause(at(), slow()).why == "catalog: the learned rate, 11.6/s"
    cap = slow(cause=Cause.CAP, why="as many requests in flight as the provider accepts")
    assert cause(at(), cap).why == "catalog: as many requests in flight as the provider accepts"


def test_rows_that_the_handler_postponed():
    wait = cause(at(due=False, deferrals=[later("deferred")], **IDLE))
    assert (wait.kind, wait.until_us) == (WaitKind.DEFERRED, NOW_US + 2 * MINUTE_US)
    assert wait.why == "30 rows wait because the handler asked to try later"
    assert (wait.next, wait.evidence) == ("the next is due", "the shop opens later")
    one = cause(at(due=False, deferrals=[later("deferred", 1)], **IDLE))
    assert one.why == "1 row waits because the handler asked to try later"
    many = cause(at(due=False, deferrals=[later("deferred", COUNTED)], **IDLE))
    assert many.why.startswith(f"{COUNTED} or more rows wait")


def test_rows_that_wait_for_a_retry():
    groups = [later("timeout", 3), later("transient", 7)]
    wait = cause(at(due=False, deferrals=groups, **IDLE))
    assert (wait.kind, wait.why) == (WaitKind.RETRY, "7 rows failed and wait for a retry")


def test_rows_that_waited_at_a_gate_have_their_due_time():
    wait = cause(at(due=False, deferrals=[later("throttled", gate="host:a.org:81")], **IDLE))
    assert (wait.kind, wait.why) == (WaitKind.REFUSED, "30 rows were sent back by a.org:81")
    older = cause(at(due=False, deferrals=[later("throttled")], **IDLE))
    assert older.kind is WaitKind.DEFERRED, "without a gate it was the handler"


def test_rows_that_are_due_later_are_not_the_cause_while_others_are_due():
    assert cause(at(deferrals=[later("deferred")])).kind is WaitKind.RUNNING
    few = at(due=False, deferrals=[later("transient", 3)], counts=Counts(pending=3, processing=9))
    assert cause(few, slow()).kind is WaitKind.RATE, "most rows wait at the gate"


def test_no_worker_is_named_with_the_command_that_starts_one():
    wait = cause(at(workers=0, **IDLE), slow())
    assert wait.kind is WaitKind.WORKER
    assert wait.why == "no worker is running; start one with: headgate worker"
    assert not is_at_work(a_job(), at(workers=0))
    assert is_at_work(a_job(), at())


def test_a_wait_that_ends_by_itself_still_needs_a_worker():
    held = cause(at(workers=0, **IDLE), closed())
    put_off = cause(at(workers=0, due=False, deferrals=[later("deferred")], **IDLE))
    for wait, kind in ((held, WaitKind.REFUSED), (put_off, WaitKind.DEFERRED)):
        assert wait.kind is kind
        assert wait.why.endswith("; and no worker is running (start one with: headgate worker)")


def test_a_command_with_its_own_workers_advises_no_other_command():
    own = {"workers": 0, "starts_workers": True, **IDLE}
    missing = cause(at(**own), slow())
    assert (missing.kind, missing.why) == (WaitKind.WORKER, "a worker process is starting")
    put_off = cause(at(due=False, deferrals=[later("deferred")], **own))
    for wait in (cause(at(**own), closed()), put_off):
        assert "worker" not in wait.why


def test_a_worker_between_two_rows_has_taken_rows_before():
    begun = cause(at(**{**IDLE, "finished_us": 1}))
    assert begun.why == "a worker is running, but it has not taken the next row yet"
    fresh = cause(at(**{**IDLE, "finished_us": None}))
    assert fresh.why == "a worker is running, but it has not taken a row yet"


def test_other_jobs_come_first():
    assert cause(at(others_busy=True, **IDLE)).kind is WaitKind.TURN
    alone = cause(at(**IDLE))
    assert (alone.kind, "has not taken" in alone.why) == (WaitKind.WORKER, True)


def test_full_speed_is_said_with_the_handlers_that_are_busy():
    assert cause(at()).why == "nothing – running at full speed (32 rows in progress)"  # noqa: RUF001
    last = at(due=False, counts=Counts(processing=1, done=500))
    assert cause(last).why == "nothing – the last rows are running (1 row in progress)"  # noqa: RUF001


def test_handlers_that_finish_nothing_are_the_cause():
    wait = cause(at(**STILL))
    assert (wait.kind, wait.why) == (
        WaitKind.HANDLER,
        "32 rows in progress; the last row was finished 90 s ago",
    )
    assert cause(at(finished_us=None)).why == "32 rows in progress; no row is finished yet"


@pytest.mark.parametrize(
    ("per_s", "words"),
    [
        (1_234.5, "1,234/s"),
        (20.0, "20/s"),
        (4.92, "4.9/s"),
        (1 / 3, "20/min"),
        (1 / 90, "40/h"),
        (1 / 7_200, "12/day"),
    ],
)
def test_rates_in_figures(per_s, words):
    assert rate_text(per_s) == words


GATES = [
    gate(),
    gate("host:b.org", in_flight=2),
    slow(),
    slow("host:b.org"),
    closed(),
    closed(Cause.STOPPED, None),
    down(),
    down("host:127.0.0.1:18204"),
    down(in_flight=4),
]
DEFERRALS = [later("deferred"), later("transient"), later("throttled", gate="b.org"), later("")]


SITUATIONS = st.builds(
    Situation,
    now_us=st.just(NOW_US),
    counts=st.builds(Counts, st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)),
    due=st.booleans(),
    deferrals=st.lists(st.sampled_from(DEFERRALS), max_size=3),
    finished_us=st.one_of(st.none(), st.integers(NOW_US - 2 * FLOWING_US, NOW_US)),
    workers=st.integers(0, 2),
    others_busy=st.booleans(),
)


@given(
    SITUATIONS,
    st.sampled_from(sorted(JobState)),
    st.booleans(),
    st.lists(st.sampled_from(GATES), max_size=3),
)
def test_a_job_without_progress_always_names_a_cause(situation, state, eager, gates):
    wait = why_job(a_job(state=state, eager=eager), situation, gates)
    if state in {JobState.QUEUED, JobState.RUNNING, JobState.PAUSED} and situation.counts.open:
        assert wait is not None
        assert wait.why
    if wait is not None and not situation.flowing:
        assert wait.kind is not WaitKind.RUNNING
        assert "nothing" not in wait.why


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
