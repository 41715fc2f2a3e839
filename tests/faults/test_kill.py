"""kill -9 at random moments: nothing is lost, nothing committed is redone, no item is blamed."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from headgate.core.status import ItemStatus
from headgate.engine.settler import Settler
from headgate.ports.store import Store
from tests.faults.matrix import Storm, storming
from tests.kit.command import PATIENCE_S, STEP_S, Command, living, until
from tests.kit.project import Project

HANDLERS = Path(__file__).with_name("handlers.py")
CONCURRENCY = 16
FLUSH = 50
UNFLUSHED = Settler.BACKLOG * FLUSH + CONCURRENCY
UNCOMMITTED = CONCURRENCY + 2 * UNFLUSHED
"""The most that can be in flight, inside a commit, and waiting for the next one."""

KILLS = storming(Storm(2_000, 3), Storm(20_000, 20), "awaited", "plain")
INGESTS = storming(Storm(10_000, 3), Storm(1_000_000, 20), "position", "id")


def moments(storm: Storm, rng: Random) -> list[int]:
    """After how many executions to kill; never so late that nothing is left to do."""
    return sorted(rng.sample(range(1, storm.items * 9 // 10), storm.kills))


def wait_for_execution(
    project: Project, command: Command, number: int, or_else: Callable[[], bool] = lambda: False
) -> None:
    until(
        lambda: project.executed() >= number or or_else() or not command.running,
        what=f"execution {number}",
    )
    assert command.running, command.talk


@KILLS
def test_a_killed_command_repeats_only_items_that_were_not_committed(
    project: Project, storm: Storm, name: str
):
    # The last row waits for the last kill, so that none can come too late.
    gate = project.folder / "gate"
    file = project.rows(storm.items, {storm.items: "wait"})
    words = project.batch(f"{HANDLERS}:{name}", file, pause=0.002, gate=gate)
    lost: Counter[str] = Counter()
    for moment in moments(storm, Random(f"{name} {storm}")):
        before = project.executions()
        with project.start(*words) as command:
            wait_for_execution(project, command, moment)
            command.kill()
        committed = {item.key for item in project.items() if item.status is ItemStatus.DONE}
        uncommitted = (project.executions() - before).keys() - committed
        assert len(uncommitted) <= UNCOMMITTED
        lost.update(uncommitted)

    gate.touch()
    ended = project.run(*words)
    assert ended.code == 0, ended.err
    items = project.assert_finished(storm.items)
    assert {item.status for item in items} == {ItemStatus.DONE}
    assert {(item.attempts, item.crashes) for item in items} == {(1, 0)}
    redone = project.executions() - Counter(item.key for item in items)
    assert redone <= lost
    project.assert_never_redone(items)


@KILLS
def test_a_killed_worker_repeats_only_its_running_items(project: Project, storm: Storm, name: str):
    # The last rows wait for the last kill, so that none can come too late.
    gate = project.folder / "gate"
    waiting = range(storm.items - 2 * storm.kills * CONCURRENCY, storm.items)
    file = project.rows(storm.items, dict.fromkeys(waiting, "wait"))
    words = project.batch(f"{HANDLERS}:{name}", file, "--processes", "2", pause=0.01, gate=gate)

    def all_lanes_wait() -> bool:
        """A worker that replaces a killed one may get the last rows before the returned ones."""
        begun = project.executions()
        return sum(begun[str(number)] for number in waiting) >= 2 * CONCURRENCY

    with project.start(*words) as command:
        for moment in moments(storm, Random(f"{name} {storm}")):
            wait_for_execution(project, command, moment, or_else=all_lanes_wait)
            kill_busiest(project, command)
        gate.touch()
        ended = command.wait()

    assert ended.code == 0, ended.err
    items = project.assert_finished(storm.items)
    assert {item.status for item in items} == {ItemStatus.DONE}
    assert {(item.attempts, item.crashes) for item in items} == {(1, 0)}
    redone = project.executions() - Counter(item.key for item in items)
    assert redone.total() <= storm.kills * UNCOMMITTED
    project.assert_never_redone(items)


def kill_busiest(project: Project, command: Command) -> None:
    def killed() -> bool:
        pid = busiest(project, command)
        if pid is None:
            return False
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:  # it was killed before, and its row was still there
            return False
        return True

    until(killed, what="a worker in the middle of its work")


def busiest(project: Project, command: Command) -> int | None:
    """The worker with the most in hand, but none that runs a suspect by itself.

    Dying three times over one row would mean something.
    """
    alive = {process.pid for process in command.workers}
    leases = {row.pid: row.leases for row in project.workers() if row.pid in alive}
    pid = max(leases, key=leases.__getitem__, default=None)
    return pid if pid is not None and leases[pid] > 2 else None


def test_a_killed_supervisor_leaves_no_orphan(
    sqlite_project: Project, monkeypatch: pytest.MonkeyPatch
):
    """Not even one whose handler holds the interpreter, so that no thread of ours can act."""
    file = sqlite_project.rows(50, {1: "hold"})
    words = sqlite_project.batch(f"{HANDLERS}:awaited", file, "--processes", "2", pause=0.3)
    mark = sqlite_project.folder / "held"
    monkeypatch.setenv("HOLD_MARK", str(mark))
    monkeypatch.setenv("HOLD_S", str(int(2 * PATIENCE_S)))
    with sqlite_project.start(*words) as command:
        until(lambda: mark.exists() or not command.running, what="the handler that holds on")
        workers = command.workers
        assert len(workers) == 2
        command.kill_supervisor()
        until(lambda: not living(workers), what="the workers to follow their supervisor")

    monkeypatch.setenv("HOLD_S", "0")
    assert sqlite_project.run(*words).code == 0
    items = sqlite_project.assert_finished(50)
    assert {(item.status, item.crashes) for item in items} == {(ItemStatus.DONE, 0)}


def test_a_supervisor_killed_while_its_workers_start_leaves_no_orphan(sqlite_project: Project):
    file = sqlite_project.rows(50)
    words = sqlite_project.batch(f"{HANDLERS}:awaited", file, "--processes", "2", pause=0.3)
    with sqlite_project.start(*words) as command:
        until(lambda: len(command.workers) == 2, what="the workers to be started")
        workers = command.workers
        command.kill_supervisor()
        until(lambda: not living(workers), what="the workers to follow their supervisor")
    assert sqlite_project.executed() == 0


HELD_READER = """
import csv, os, time

reader, rows_left = csv.reader, int(os.environ.get("READ_ROWS", "1000000000"))

class HeldReader:
    def __init__(self, *given, **named):
        self.rows = reader(*given, **named)

    def __iter__(self):
        return self

    def __next__(self):
        global rows_left
        rows_left -= 1
        while rows_left < 0:
            time.sleep(1)
        return next(self.rows)

    @property
    def line_num(self):
        return self.rows.line_num

csv.reader = HeldReader
"""
"""Python runs this first: a command that has read READ_ROWS rows of CSV reads no more of them."""


@INGESTS
def test_a_killed_ingest_loses_and_doubles_no_row(project: Project, name: str, storm: Storm):
    """Whether a row is named by its position or by a column, whose duplicates must be found."""
    file = project.rows(storm.items)
    words = project.batch(f"{HANDLERS}:quiet", file, *(["--key", name] if name == "id" else []))
    # Small batches, so that there are many moments between two commits.
    slowly = {"ingest__max_rows": max(storm.items // 300, 64)}
    (project.folder / "held").mkdir()
    (project.folder / "held" / "sitecustomize.py").write_text(HELD_READER)
    stored = 0
    for moment in moments(storm, Random(f"{name} {storm}")):
        # The rest of the file stays out of reach, so that no kill can come too late.
        project.environment = {
            "PYTHONPATH": str(project.folder / "held"),
            "READ_ROWS": str(max(moment + storm.items // 10 - stored, 0)),
        }
        with project.start(*words, **slowly) as command:
            wait_for_row(project, moment)
            command.kill()
        assert not project.jobs()[0].ingest_complete
        stored = project.counts().total

    project.environment = {}
    ended = project.run(*words, **slowly)
    assert ended.code == 0, ended.err
    items = project.assert_finished(storm.items)
    assert len(project.jobs()) == 1
    assert [item.line for item in items] == list(range(2, storm.items + 2))
    assert [item.key for item in items] == [str(n) for n in range(1, storm.items + 1)]
    assert {item.status for item in items} == {ItemStatus.DONE}


def wait_for_row(project: Project, number: int) -> None:
    """On one connection: rows come faster than connections are made."""

    async def waiting(store: Store) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while (await store.reads.counts(1)).total < number:  # noqa: ASYNC110  as below
                await asyncio.sleep(STEP_S)  # noqa: TID251  another process writes

    project.ask(waiting)
