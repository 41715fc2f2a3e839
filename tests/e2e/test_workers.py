"""Workers on a store run new jobs, obey commands, and end with their supervisor."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.core.status import ItemStatus
from tests.kit.command import until
from tests.kit.project import Project

pytestmark = pytest.mark.slow

HANDLERS = """
import os, subprocess, sys, time

def note(item, ctx):
    log = os.open(ctx.job.config["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(log, f"{item.key}\\n".encode())
    os.close(log)

def steady(item, ctx):
    note(item, ctx)
    time.sleep(0.02)
    return {"pid": os.getpid()}

def nosy(item, ctx):
    print("a handler may talk", flush=True)
    typed = sys.stdin.read()
    copied = subprocess.run(["cat"], capture_output=True, timeout=120, check=True).stdout
    return {"typed": typed, "copied": copied.decode()}
"""


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Project]:
    """A project on each store, with handlers of its own."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path}/headgate.db"
    else:
        url = request.getfixturevalue("postgres_url")
    (tmp_path / "handlers.py").write_text(HANDLERS)
    return Project(tmp_path, url)


def test_several_processes_share_a_batch(project: Project):
    two = ("--processes", "2", "--concurrency", "4")
    words = project.batch("handlers.py:steady", project.rows(300), *two)
    ended = project.run(*words)
    assert ended.code == 0, ended.err
    project.assert_finished(300)
    assert set(project.executions().values()) == {1}
    assert len(set(project.results().values())) == 2  # each process has settled some


def test_pause_resume_and_cancel_reach_every_worker(project: Project):
    few = ("--concurrency", "2")
    words = project.batch("handlers.py:steady", project.rows(4_000), *few)
    with project.start(*words) as first:
        until(lambda: project.executed() >= 10, what="work to begin")
        with project.start("worker", *few) as second:
            until(lambda: len(project.workers()) == 2, what="a second worker")
            assert project.invoke("jobs", "pause", "1").code == 0
            until(lambda: project.counts().processing == 0, what="every worker to pause")
            executed = project.executed()
            assert first.wait().code == 4
            assert project.executed() == executed
            assert project.invoke("jobs", "resume", "1").code == 0
            until(lambda: project.executed() > executed, what="the daemon to go on")
            assert project.invoke("jobs", "cancel", "1", "--yes").code == 0
            until(lambda: not project.counts().open, what="the job to end")
            os.kill(second.pid, signal.SIGTERM)
            assert second.wait().code == 0, second.talk
    statuses = {item.status for item in project.assert_finished(4_000)}
    assert statuses == {ItemStatus.DONE, ItemStatus.CANCELLED}


def test_a_daemon_runs_new_jobs_and_ends_after_a_signal(project: Project):
    project.invoke("db", "migrate")
    with project.start("worker") as daemon:
        for number in (1, 2):
            file = project.rows(30, name=f"rows-{number}.csv")
            words = project.batch("handlers.py:steady", file, "--name", f"job {number}")
            assert project.run(*words).code == 0
        os.kill(daemon.pid, signal.SIGTERM)
        ended = daemon.wait()
    assert ended.code == 0, ended.err
    assert "Traceback" not in ended.err
    for job in project.jobs():
        project.assert_finished(30, job.id)
    assert project.workers() == []


def test_a_handler_that_reads_standard_input_finds_nothing_there(project: Project):
    """Neither it nor a program that it starts can read the words meant for its worker."""
    ended = project.run(*project.batch("handlers.py:nosy", project.rows(5)))
    assert ended.code == 0, ended.err
    assert ended.err.count("a handler may talk") == 5
    assert "a handler may talk" not in ended.out
    project.assert_finished(5)
    assert set(project.results().values()) == {'{"typed":"","copied":""}'}
