"""Rows that kill or hang their process: the guilty are named, the innocent lose no attempt."""

import os
import signal
from pathlib import Path

from headgate.core.fault import FaultClass
from headgate.core.status import ItemStatus
from tests.faults.matrix import FULL_SIZE, with_handlers
from tests.kit.command import Command, until
from tests.kit.project import Project

HANDLERS = Path(__file__).with_name("handlers.py")
LIMITS = {"worker__memory_mb": 400, "worker__alone_memory_mb": 300, "worker__grace_s": 0.3}


@with_handlers("awaited", "plain", on_postgres=FULL_SIZE)
def test_three_bad_rows_among_a_thousand_cost_the_others_nothing(project: Project, name: str):
    deeds = {250: "segfault", 500: "hog", 750: "spin"}
    file = project.rows(1_000, deeds)
    words = project.batch(f"{HANDLERS}:{name}", file, "--item-timeout", "3", pause=0.01)
    ended = project.run(*words, worker__concurrency=8, **LIMITS)

    assert ended.code == 3, ended.err
    items = {item.key: item for item in project.assert_finished(1_000)}
    bad = {key: items.pop(key) for key in ("250", "500", "750")}
    assert {item.status for item in bad.values()} == {ItemStatus.ERROR}
    assert bad["250"].error_class == FaultClass.POISON
    assert "SIGSEGV" in str(bad["250"].last_error)
    assert bad["500"].error_class == FaultClass.POISON
    assert "memory limit" in str(bad["500"].last_error)
    assert bad["750"].error_class == FaultClass.TIMEOUT
    assert "longer than 3 s" in str(bad["750"].last_error)
    assert {item.status for item in items.values()} == {ItemStatus.DONE}
    assert {(item.attempts, item.crashes) for item in items.values()} == {(1, 0)}
    project.assert_never_redone(list(items.values()))


def test_a_process_that_dies_three_times_over_one_item_proves_it_poison(project: Project):
    """One crash in company and two alone, each by kill -9 from outside."""
    gate = project.folder / "gate"
    file = project.rows(1)
    words = project.batch(f"{HANDLERS}:awaited_gate", file, gate=gate)
    with project.start(*words) as command:
        for crash in range(1, 4):
            until(lambda n=crash: project.executed() == n or not command.running)
            assert command.running, command.talk
            os.kill(the_holder(project, command), signal.SIGKILL)
        ended = command.wait()

    assert ended.code == 3, ended.err
    [item] = project.assert_finished(1)
    assert (item.status, item.error_class) == (ItemStatus.ERROR, FaultClass.POISON)
    assert (item.attempts, item.crashes) == (0, 3)
    assert "SIGKILL" in str(item.last_error)
    assert project.executed() == 3


def the_holder(project: Project, command: Command) -> int:
    """The one worker process that has the item in hand."""
    [holder] = [worker for worker in project.workers() if worker.leases]
    assert holder.pid in {process.pid for process in command.workers}
    return holder.pid


@with_handlers("awaited", "plain")
def test_a_row_that_leaves_the_process_is_poison_and_costs_the_others_nothing(
    project: Project, name: str
):
    file = project.rows(60, {30: "leave"})
    ended = project.run(*project.batch(f"{HANDLERS}:{name}", file, pause=0.02))
    assert ended.code == 3, ended.err
    items = {item.key: item for item in project.assert_finished(60)}
    left = items.pop("30")
    assert (left.status, left.error_class) == (ItemStatus.ERROR, FaultClass.POISON)
    assert "exited with code 0" in str(left.last_error)
    assert {(item.status, item.attempts) for item in items.values()} == {(ItemStatus.DONE, 1)}


def test_a_row_that_ends_the_event_loop_is_poison_and_costs_the_others_nothing(
    sqlite_project: Project,
):
    """One row stops the loop and returns at once, another cancels every task and waits."""
    project = sqlite_project
    file = project.rows(40, {8: "stop the loop", 31: "cancel all tasks and wait"})
    words = project.batch(f"{HANDLERS}:rude", file, pause=0.02)
    ended = project.run(*words, worker__concurrency=4)
    assert ended.code == 3, ended.err
    items = {item.key: item for item in project.assert_finished(40)}
    stopped, cancelled = items.pop("8"), items.pop("31")
    assert (stopped.status, stopped.error_class) == (ItemStatus.ERROR, FaultClass.POISON)
    assert "a handler stopped the event loop of its process" in str(stopped.last_error)
    assert (cancelled.status, cancelled.error_class) == (ItemStatus.ERROR, FaultClass.POISON)
    assert "a handler cancelled tasks of its process" in str(cancelled.last_error)
    assert {(item.status, item.attempts) for item in items.values()} == {(ItemStatus.DONE, 1)}


@with_handlers("awaited", "plain")
def test_a_handler_that_blocks_its_process_starves_no_heartbeat(project: Project, name: str):
    """Two seconds without a turn of the loop, twice, under a lease of half a second."""
    settings = {
        "claim__lock_floor_s": 0.5,
        "worker__heartbeat_s": 0.1,
        "worker__concurrency": 4,
        "claim__claim_max": 4,
    }
    file = project.rows(40, {2: "hold", 30: "block"})
    words = project.batch(f"{HANDLERS}:{name}", file, pause=0.02)
    # The other command is the one that would declare a silent worker dead.
    with project.start("worker", **settings) as other, project.start(*words, **settings) as command:
        ended = command.wait()
        assert other.running, other.talk
    assert ended.code == 0, ended.err
    items = project.assert_finished(40)
    assert {(item.status, item.attempts) for item in items} == {(ItemStatus.DONE, 1)}
    assert set(project.executions().values()) == {1}
    assert project.events("discarded") == []
    assert project.events("rescued") == []
