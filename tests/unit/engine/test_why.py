"""Why an item waits and what limits a job, from stored facts alone."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.gate_view import GateView
from headgate.core.job import Job
from headgate.core.membership import Member
from headgate.core.pace_state import Cause
from headgate.core.status import ItemStatus, JobState
from headgate.engine.why import ItemFacts, WaitKind, at_gate, binding, in_figures, why_item
from headgate.ports.reads import AttemptRow, ItemDetail, ItemRow

NOW_US = 1_800_000_000_000_000
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
        "created_at": 0,
        "updated_at": 0,
        "started_at": None,
        "finished_at": None,
        "last_error": None,
    }
    return Job(**{**facts, **changes})


def an_item(status: ItemStatus = ItemStatus.PENDING, **changes: Any) -> ItemDetail:
    row = ItemRow(
        id=7,
        job_id=3,
        key="k",
        line=1,
        status=status,
        summary="",
        attempts=0,
        crashes=0,
        error_class=None,
        last_error=None,
        due_at=changes.pop("due_at", 0),
        locked_by=changes.pop("locked_by", None),
        updated_at=0,
        owner="local",
        handler="h",
        gate=changes.pop("gate", ""),
    )
    facts: dict[str, Any] = {
        "row": row,
        "epoch": 1,
        "strategy": 0,
        "failures": 0,
        "suspect": False,
        "input": "{}",
        "normalized": None,
        "result": None,
        "leased_at": None,
        "deadline_at": None,
    }
    return ItemDetail(**{**facts, **changes})


def a_gate(key: str = "provider:wikidata", **changes: Any) -> GateView:
    name = key.partition(":")[2]
    facts: dict[str, Any] = {
        "key": key,
        "kind": key.partition(":")[0],
        "name": name,
        "asked": True,
        "now_per_s": 4.92,
        "cause": Cause.RATE,
        "why": "the learned rate",
        "waiting": True,
    }
    return GateView(**{**facts, **changes})


def closed(key: str = "provider:wikidata", in_s: float | None = 60.0) -> GateView:
    return a_gate(
        key,
        now_per_s=0.0,
        cause=Cause.RETRY_AFTER,
        why="the provider asked to wait",
        closed=True,
        closed_until=None if in_s is None else NOW_US / 1e6 + in_s,
    )


def facts(detail: ItemDetail | None = None, **changes: Any) -> ItemFacts:
    detail = detail or an_item()
    given: dict[str, Any] = {
        "row": detail.row,
        "job": a_job(),
        "gates": (),
        "workers": {"w1"},
        "now_us": NOW_US,
    }
    return ItemFacts(**{**given, **changes})


THROTTLED = AttemptRow(
    number=0,
    epoch=1,
    worker="w1",
    strategy=0,
    outcome="throttled",
    error_class="throttled",
    reason="provider:wikidata lets nothing through for 60.0 s",
    leased_at=0,
    waited_us=0,
    ran_us=0,
    ended_at=0,
)


@pytest.mark.parametrize("status", sorted(set(ItemStatus) - {"PENDING", "PROCESSING"}))
def test_what_is_finished_waits_for_nothing(status):
    assert why_item(facts(an_item(status))) is None


def test_a_paused_job_comes_before_everything():
    job = a_job(state=JobState.PAUSED, pause_reason="5 euros are spent", resume_at=NOW_US + 1)
    wait = why_item(facts(an_item(due_at=NOW_US + 1), job=job, gates=[closed()], workers=()))
    assert wait is not None
    assert (wait.kind, wait.until_us) == (WaitKind.JOB, NOW_US + 1)
    assert wait.why == "job 3 is paused (5 euros are spent)"


def test_a_source_that_is_being_read():
    wait = why_item(facts(job=a_job(state=JobState.INGESTING)))
    assert wait is not None
    assert wait.kind is WaitKind.JOB
    eager = why_item(facts(job=a_job(state=JobState.INGESTING, eager=True)))
    assert eager is not None
    assert eager.kind is WaitKind.TURN


def test_an_item_that_was_put_off_says_why():
    item = an_item(due_at=NOW_US + MINUTE_US, gate="provider:wikidata")
    wait = why_item(facts(item, last=THROTTLED))
    assert wait is not None
    assert (wait.kind, wait.until_us) == (WaitKind.DUE, NOW_US + MINUTE_US)
    assert wait.why == "throttled: provider:wikidata lets nothing through for 60.0 s"
    assert wait.gate == "provider:wikidata"


def test_a_row_alone_tells_why_it_was_put_off():
    row = msgspec.structs.replace(an_item(due_at=NOW_US + 1).row, last_error="HTTP 503")
    wait = why_item(ItemFacts(row, a_job(), (), {"w1"}, NOW_US))
    assert wait is not None
    assert (wait.kind, wait.why, wait.until_us) == (WaitKind.DUE, "retry: HTTP 503", NOW_US + 1)


def test_a_closed_gate_comes_before_a_missing_worker():
    wait = why_item(facts(gates=[closed()], workers=()))
    assert wait is not None
    assert (wait.kind, wait.gate) == (WaitKind.GATE, "provider:wikidata")
    assert wait.why == "wikidata: the provider asked to wait"
    assert wait.until_us == NOW_US + MINUTE_US


def test_of_several_closed_gates_the_first_to_open_is_named():
    gates = [closed("credential:pool/a", 60), closed("credential:pool/b", 5)]
    wait = why_item(facts(gates=[*gates, closed("credential:pool/c", None)]))
    assert wait is not None
    assert wait.gate == "credential:pool/b"


def test_one_open_gate_is_enough_to_go_on():
    wait = why_item(facts(gates=[closed("host:a.org"), a_gate("host:b.org")]))
    assert wait is not None
    assert wait.why == "its turn at b.org: the learned rate, 4.9/s"


@pytest.mark.parametrize(
    ("own", "gate"),
    [
        ("localhost:81", "host:localhost:81"),
        ("host:localhost:81", "host:localhost:81"),
        ("pool", "credential:pool/a"),
        ("shop", "provider:shop"),
    ],
)
def test_an_item_with_a_gate_of_its_own_waits_for_that(own, gate):
    others = [a_gate("host:b.org"), a_gate("host:81"), a_gate("provider:b.org")]
    wait = why_item(facts(an_item(gate=own), gates=[*others, closed(gate)]))
    assert wait is not None
    assert wait.gate == gate


def test_nobody_is_there():
    wait = why_item(facts(workers=()))
    assert wait is not None
    assert wait.kind is WaitKind.WORKER
    assert "headgate worker" in wait.why


def test_its_turn_will_come():
    wait = why_item(facts(gates=[a_gate(waiting=False, cause=Cause.OPEN)]))
    assert wait is not None
    assert wait.kind is WaitKind.TURN


def test_what_is_worked_on_may_wait_too():
    item = an_item(ItemStatus.PROCESSING, locked_by="w1")
    mine = a_gate(members={"w1": Member(0.0, -1.0)})
    others = closed("host:elsewhere.org")
    wait = why_item(facts(item, gates=[mine, others]))
    assert wait is not None
    assert wait.gate == "provider:wikidata"
    assert wait.why == "it is being worked on; requests wait for wikidata: the learned rate, 4.9/s"
    free = why_item(facts(item))
    assert free is not None
    assert free.kind is WaitKind.RUNNING


def test_a_worker_that_is_gone_is_named():
    wait = why_item(facts(an_item(ItemStatus.PROCESSING, locked_by="w9")))
    assert wait is not None
    assert (wait.kind, "w9" in wait.why) == (WaitKind.WORKER, True)


def test_the_gate_that_decides_a_jobs_speed():
    idle = a_gate("host:idle.org", waiting=False, cause=Cause.OPEN)
    slow, fast = a_gate("host:slow.org", now_per_s=1.0), a_gate("host:fast.org", now_per_s=9.0)
    shut = closed("host:shut.org")
    assert binding([idle]) is None
    assert binding([idle, shut]) is shut
    assert binding([shut, slow, idle, fast]) is fast


def test_a_rate_is_a_figure_only_where_it_is_the_cause():
    assert at_gate(a_gate()).why == "wikidata: the learned rate, 4.9/s"
    cap = a_gate(cause=Cause.CAP, why="as many in flight as the provider takes")
    assert at_gate(cap).why == "wikidata: as many in flight as the provider takes"


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
    assert in_figures(per_s) == words


@given(
    st.sampled_from([ItemStatus.PENDING, ItemStatus.PROCESSING]),
    st.sampled_from(list(JobState)),
    st.integers(NOW_US - 5, NOW_US + 5),
    st.lists(st.sampled_from([closed(), a_gate(), a_gate("host:a.org")]), max_size=3),
    st.sampled_from([(), ("w1",)]),
    st.sampled_from([None, THROTTLED]),
)
def test_whatever_is_open_has_a_reason_to_wait(status, state, due_at, gates, workers, last):
    item = an_item(status, due_at=due_at, locked_by="w1")
    wait = why_item(facts(item, job=a_job(state=state), gates=gates, workers=workers, last=last))
    assert wait is not None
    assert wait.why
