"""Why an item waits or how it ended, from stored facts alone."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.gates.state import HostDown, Member
from headgate.core.gates.view import GateView
from headgate.core.gates.wait import WaitKind
from headgate.core.job import Counts
from headgate.core.pacing.state import Cause
from headgate.core.status import ItemStatus, JobState
from headgate.engine.why import ItemFacts, ending_of, why_item
from headgate.ports.reads import AttemptRow, ItemDetail, ItemRow
from tests.unit.core.test_waiting import MINUTE_US, NOW_US, a_job, at


def an_item(status: ItemStatus = ItemStatus.PENDING, **changes: Any) -> ItemDetail:
    row = ItemRow(
        id=7,
        job_id=3,
        key="k",
        line=1,
        status=status,
        summary="",
        attempts=changes.pop("attempts", 0),
        crashes=changes.pop("crashes", 0),
        error_class=changes.pop("error_class", None),
        last_error=changes.pop("last_error", None),
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
        "at": at(workers=len(changes.get("workers", "1"))),
        "gates": (),
        "workers": {"w1"},
    }
    return ItemFacts(**{**given, **changes})


THROTTLED = AttemptRow(
    number=0,
    epoch=1,
    worker="w1",
    strategy=0,
    outcome="throttled",
    error_class="throttled",
    reason="requests to wikidata have to wait for 60.0 s",
    leased_at=0,
    waited_us=0,
    ran_us=0,
    ended_at=0,
)


@pytest.mark.parametrize("status", sorted(set(ItemStatus) - {"PENDING", "PROCESSING"}))
def test_a_finished_item_waits_for_nothing(status):
    assert why_item(facts(an_item(status))) is None


def test_a_paused_job_comes_before_everything():
    job = a_job(state=JobState.PAUSED, pause_reason="5 euros are spent", resume_at=NOW_US + 1)
    wait = why_item(facts(an_item(due_at=NOW_US + 1), job=job, gates=[closed()], workers=()))
    assert wait is not None
    assert (wait.kind, wait.until_us) == (WaitKind.PAUSED, NOW_US + 1)
    assert wait.why == "job 3 is paused (5 euros are spent)"


def test_a_source_that_is_being_read():
    wait = why_item(facts(job=a_job(state=JobState.INGESTING)))
    assert wait is not None
    assert wait.kind is WaitKind.READING
    eager = why_item(facts(job=a_job(state=JobState.INGESTING, eager=True)))
    assert eager is not None
    assert eager.kind is WaitKind.TURN


def test_an_item_that_the_handler_postponed_says_why():
    item = an_item(due_at=NOW_US + MINUTE_US, error_class="deferred", last_error="opens later")
    wait = why_item(facts(item))
    assert wait is not None
    assert (wait.kind, wait.until_us) == (WaitKind.DEFERRED, NOW_US + MINUTE_US)
    assert (wait.why, wait.next) == ("the handler asked to try later: opens later", "next try")


def test_an_item_that_waited_at_a_gate_names_the_gate():
    item = an_item(due_at=NOW_US + 1, gate="provider:wikidata", error_class="throttled")
    sent_back = why_item(facts(item, last=THROTTLED))
    assert sent_back is not None
    assert (sent_back.kind, sent_back.why) == (
        WaitKind.REFUSED,
        "its request had to wait for wikidata",
    )
    assert sent_back.gate == "provider:wikidata"
    still_closed = why_item(facts(item, last=THROTTLED, gates=[closed()]))
    assert still_closed is not None
    assert still_closed.why == "wikidata: the provider asked to wait"
    assert still_closed.until_us == NOW_US + MINUTE_US


def test_an_item_that_waited_for_a_silent_host_names_the_host():
    item = an_item(due_at=NOW_US + 1, gate="a.org:81", error_class="throttled")
    down = {"a.org:81": HostDown(NOW_US / 1e6 + 60.0, "connection refused")}
    wait = why_item(facts(item, gates=[a_gate(down=down)]))
    assert wait is not None
    assert (wait.kind, wait.next) == (WaitKind.BREAKER, "next try")
    assert wait.why == "a.org:81 does not answer (connection refused)"
    due = why_item(facts(an_item(gate="a.org:81"), gates=[a_gate("host:a.org:81", down=down)]))
    assert due is not None
    assert due.why == wait.why


@pytest.mark.parametrize(
    ("attempts", "why"), [(1, "it failed once: HTTP 503"), (2, "it failed 2 times: HTTP 503")]
)
def test_a_row_without_other_facts_says_why_it_was_postponed(attempts, why):
    item = an_item(
        due_at=NOW_US + 1, attempts=attempts, last_error="HTTP 503", error_class="transient"
    )
    wait = why_item(facts(item))
    assert wait is not None
    assert (wait.kind, wait.why, wait.until_us) == (WaitKind.RETRY, why, NOW_US + 1)


def test_an_item_that_ran_during_a_crash_is_not_blamed():
    wait = why_item(facts(an_item(crashes=1, error_class="poison", last_error="SIGSEGV")))
    assert wait is not None
    assert wait.why == "it was running when its process crashed; it runs alone next"


def test_a_closed_gate_comes_before_a_missing_worker():
    wait = why_item(facts(gates=[closed()], workers=()))
    assert wait is not None
    assert (wait.kind, wait.gate) == (WaitKind.REFUSED, "provider:wikidata")
    assert wait.why == "wikidata: the provider asked to wait"
    assert wait.until_us == NOW_US + MINUTE_US


def test_of_several_closed_gates_the_first_to_open_is_named():
    gates = [closed("credential:pool/a", 60), closed("credential:pool/b", 5)]
    wait = why_item(facts(gates=[*gates, closed("credential:pool/c", None)]))
    assert wait is not None
    assert wait.gate == "credential:pool/b"


def test_one_open_gate_is_enough_to_continue():
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
def test_an_item_with_its_own_gate_waits_for_that_gate(own, gate):
    others = [a_gate("host:b.org"), a_gate("host:81"), a_gate("provider:b.org")]
    wait = why_item(facts(an_item(gate=own), gates=[*others, closed(gate)]))
    assert wait is not None
    assert wait.gate == gate


def test_an_item_without_a_worker_says_how_to_start_one():
    wait = why_item(facts(workers=()))
    assert wait is not None
    assert wait.kind is WaitKind.WORKER
    assert "headgate worker" in wait.why


def test_an_unblocked_item_waits_for_its_turn():
    wait = why_item(facts(gates=[a_gate(waiting=False, cause=Cause.OPEN)]))
    assert wait is not None
    assert wait.kind is WaitKind.TURN


def test_a_running_item_may_wait_at_a_gate():
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


def test_a_row_of_a_job_at_full_speed_waits_for_its_turn():
    wait = why_item(facts())
    assert wait is not None
    assert (wait.kind, wait.why) == (WaitKind.TURN, "32 rows in progress; it waits for its turn")
    idle = why_item(facts(at=at(counts=Counts(pending=9), finished_us=None)))
    assert idle is not None
    assert idle.kind is WaitKind.WORKER, "its job tells why no row is taken"


def an_ended(status: ItemStatus, **changes: Any) -> tuple[str, str]:
    ending = ending_of(an_item(status, **changes).row)
    assert ending is not None
    return ending


def test_a_failed_item_says_why_it_failed_and_what_to_do():
    why, todo = an_ended(
        ItemStatus.ERROR, attempts=3, error_class="transient", last_error="KeyError: 'prise'"
    )
    assert why == "it failed after 3 attempts (transient): KeyError: 'prise'"
    assert todo == "try it again: headgate dlq replay 7"


@pytest.mark.parametrize(
    ("kind", "todo"),
    [
        ("bad_row", "correct the row in the file"),
        ("poison", "correct the handler"),
        ("invalid_result", "correct the handler"),
        ("permanent", "correct the row or the handler"),
        ("timeout", "try it again"),
        ("stalled", "try it again"),
    ],
)
def test_the_error_class_decides_the_advice(kind, todo):
    ending = an_ended(ItemStatus.ERROR, error_class=kind, last_error="no")
    assert ending[0] == f"it failed ({kind}): no"
    assert ending[1].startswith(todo)


@pytest.mark.parametrize("status", sorted(set(ItemStatus) - {"PENDING", "PROCESSING"}))
def test_every_finished_item_says_how_it_ended(status):
    assert an_ended(status)[0]
    assert ending_of(an_item().row) is None


@given(
    st.sampled_from([ItemStatus.PENDING, ItemStatus.PROCESSING]),
    st.sampled_from(list(JobState)),
    st.integers(NOW_US - 5, NOW_US + 5),
    st.lists(st.sampled_from([closed(), a_gate(), a_gate("host:a.org")]), max_size=3),
    st.sampled_from([(), ("w1",)]),
    st.sampled_from([None, THROTTLED]),
)
def test_every_open_item_has_a_reason_to_wait(status, state, due_at, gates, workers, last):
    item = an_item(status, due_at=due_at, locked_by="w1")
    wait = why_item(facts(item, job=a_job(state=state), gates=gates, workers=workers, last=last))
    assert wait is not None
    assert wait.why


def test_a_row_without_a_result_says_which_service_found_nothing():
    decided = "rejected every candidate, decided by ann"
    assert an_ended(ItemStatus.NOT_FOUND, last_error=decided) == (decided, "")
    assert an_ended(ItemStatus.NOT_FOUND) == ("the service has nothing for it", "")
