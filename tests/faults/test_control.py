"""What people do to a job while it runs: cancel, delete, pause, interrupt."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headgate.core.status import ItemStatus, JobState
from headgate.stores.jobs import SqlJobs
from tests.faults.matrix import crossed
from tests.kit.command import Command, until
from tests.kit.project import Project

HANDLERS = Path(__file__).with_name("handlers.py")
BOTH = crossed("awaited_gate", "plain_gate")


@contextmanager
def fifty_running(project: Project, name: str, *words: str) -> Iterator[Command]:
    """A command of 120 items, of which fifty are running."""
    file = project.rows(120)
    batch = project.batch(f"{HANDLERS}:{name}", file, *words, gate=project.folder / "gate")
    with project.start(*batch, worker__concurrency=50) as command:
        until(lambda: project.executed() == 50 or not command.running, what="fifty running items")
        assert command.running, command.talk
        yield command


@BOTH
def test_a_job_that_is_cancelled_while_it_runs_keeps_no_late_result(project: Project, name: str):
    with fifty_running(project, name) as command:
        assert project.invoke("jobs", "cancel", "1", "--yes").code == 0
        until(lambda: len(project.events("discarded")) == 50, what="the running to be stopped")
        (project.folder / "gate").touch()
        ended = command.wait()
    assert ended.code == 4, ended.err
    assert "Traceback" not in ended.err
    items = project.assert_finished(120)
    assert {item.status for item in items} == {ItemStatus.CANCELLED}
    assert project.jobs()[0].state is JobState.CANCELLED
    assert project.executed() == 50
    discarded = {event.item_id for event in project.events("discarded", 1)}
    running = {item.id for item in items if item.key in project.executions()}
    assert discarded == running


@BOTH
def test_a_job_that_is_deleted_while_it_runs_leaves_nothing_behind(project: Project, name: str):
    with fifty_running(project, name) as command:
        assert project.invoke("jobs", "rm", "1", "--yes").code == 0
        until(lambda: len(project.events("discarded")) == 50, what="the running to be stopped")
        (project.folder / "gate").touch()
        ended = command.wait()
    assert (ended.code, "was deleted" in ended.err) == (4, True), ended.err
    assert "Traceback" not in ended.err
    assert project.jobs() == []
    assert project.items() == []
    assert project.counts().total == 0
    project.assert_clean()
    assert project.executed() == 50
    # The file is new again, and its rows are all run.
    file = project.folder / "rows.csv"
    again = project.run(*project.batch(f"{HANDLERS}:awaited", file))
    assert again.code == 0, again.err
    [job] = project.jobs()
    project.assert_finished(120, job.id)


def test_a_command_that_ends_before_its_job_is_deleted_says_that_it_was(
    sqlite_project: Project, monkeypatch: pytest.MonkeyPatch
):
    """A deletion cancels first; the command that runs the job may end before all is gone."""
    project, delete = sqlite_project, SqlJobs.delete_job
    with fifty_running(project, "awaited_gate") as command:

        async def late(jobs: SqlJobs, job_id: int, limit: int = 1_000) -> int:
            await asyncio.to_thread(command.wait)
            return await delete(jobs, job_id, limit)

        monkeypatch.setattr(SqlJobs, "delete_job", late)
        removed = project.invoke("jobs", "rm", "1", "--yes")
        ended = command.wait()
    assert removed.code == 0, removed.err
    assert (ended.code, "job 1 was deleted while it ran" in ended.err) == (4, True), ended.err
    assert "bring it back" not in ended.err
    assert project.jobs() == []


@BOTH
def test_a_paused_job_finishes_running_items_and_resumes(project: Project, name: str):
    with fifty_running(project, name) as command:
        assert project.invoke("jobs", "pause", "1").code == 0
        until(lambda: project.counts().pending == 70, what="the waiting to be handed back")
        (project.folder / "gate").touch()
        ended = command.wait()
    assert ended.code == 4, ended.err
    counts = project.counts()
    assert (counts.done, counts.pending, counts.processing) == (50, 70, 0)
    assert project.invoke("jobs", "resume", "1").code == 0
    file = project.folder / "rows.csv"
    words = project.batch(f"{HANDLERS}:{name}", file, gate=project.folder / "gate")
    assert project.run(*words).code == 0
    items = project.assert_finished(120)
    assert {(item.status, item.attempts) for item in items} == {(ItemStatus.DONE, 1)}
    assert project.executions() == Counter(item.key for item in items)


@BOTH
def test_one_interrupt_lets_running_items_finish(project: Project, name: str):
    with fifty_running(project, name) as command:
        command.interrupt()
        until(lambda: "finishing 50 running items" in command.talk, what="the word that it stops")
        until(lambda: project.counts().pending == 70, what="the waiting to be handed back")
        (project.folder / "gate").touch()
        ended = command.wait()
    assert ended.code == 4, ended.err
    assert "continue with: headgate run" in ended.err
    assert "Traceback" not in ended.err
    counts = project.counts()
    assert (counts.done, counts.pending, counts.processing) == (50, 70, 0)
    resume(project, ended.err)
    assert set(project.executions().values()) == {1}


@BOTH
def test_two_interrupts_hand_running_items_back_immediately(project: Project, name: str):
    with fifty_running(project, name) as command:
        command.interrupt()
        until(lambda: "finishing 50 running items" in command.talk, what="the word that it stops")
        command.interrupt()
        ended = command.wait()
    assert ended.code == 4, ended.err
    assert "Traceback" not in ended.err
    counts = project.counts()
    assert (counts.done, counts.pending, counts.processing) == (0, 120, 0)
    (project.folder / "gate").touch()
    resume(project, ended.err)
    runs = project.executions()
    assert Counter(runs.values()) == {1: 70, 2: 50}


def resume(project: Project, talk: str) -> None:
    """Give the command that was printed, word by word."""
    [printed] = [line for line in talk.splitlines() if line.startswith("continue with: ")]
    words = printed.removeprefix("continue with: headgate ").split()
    ended = project.run(*words)
    assert ended.code == 0, ended.err
    items = project.assert_finished(120)
    assert {(item.status, item.attempts) for item in items} == {(ItemStatus.DONE, 1)}


LATE = """
import sys, time
from pathlib import Path

if "headgate.app.processes.worker" in sys.orig_argv:
    with open("starting", "a") as starting:
        starting.write("x")
    while not Path("go").exists():
        time.sleep(0.01)
"""
"""What Python runs before all else: workers stay at their very beginning until they may go on."""


def test_an_interrupt_while_workers_start_ends_in_order(sqlite_project: Project):
    """A terminal's Ctrl-C hits the workers too, long before they can say that they ignore it."""
    project = sqlite_project
    (project.folder / "late").mkdir()
    (project.folder / "late" / "sitecustomize.py").write_text(LATE)
    project.environment["PYTHONPATH"] = str(project.folder / "late")
    starting = project.folder / "starting"
    file = project.rows(50)
    words = project.batch(f"{HANDLERS}:awaited", file, "--processes", "2")
    with project.start(*words) as command:
        until(
            lambda: starting.exists() and starting.read_text() == "xx",
            what="workers to be starting",
        )
        command.interrupt()
        until(lambda: "stopping" in command.talk, what="the word that it stops")
        (project.folder / "go").touch()
        ended = command.wait()
    assert ended.code == 4, ended.err
    assert "Traceback" not in ended.err
    assert "KeyboardInterrupt" not in ended.err
    assert project.counts().pending == 50
    assert project.run(*words).code == 0
    project.assert_finished(50)
