"""The processes that read files for previews hang, are killed, or outlive nothing."""

import gzip
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.kit.api_server import Answer, ApiServer, Caller
from tests.kit.command import living, until

MODULE = "headgate.app.processes.inspection_main"
ROWS = b"id,name\n" + b"1,a\n" * 10_000
"""Too many to be read in the API's own process."""
LONG = gzip.compress(b"id,name\n" + b"1,a\n" * 16_000_000, 1)
"""64 MB, of which all are checked for their encoding: that takes long enough to come between."""

ALL_S = 0.15
"""Seconds of processor time that it takes at least, with the start of the process."""


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    with ApiServer(tmp_path_factory.mktemp("previews")) as server:
        yield server


def looked(caller: Caller, name: str = "rows.csv", rows: bytes = ROWS) -> Answer:
    return caller.upload((name, rows), to="/api/preview")


@contextmanager
def hanging(server: ApiServer, caller: Caller) -> Iterator[tuple[psutil.Process, Future[Answer]]]:
    """A preview whose process was stopped in the middle."""
    while process := server.child(MODULE):
        process.kill()
        process.wait()
    with ThreadPoolExecutor(1) as thread:
        while True:
            answer = thread.submit(looked, caller, "long.csv.gz", LONG)
            process = until(lambda: server.child(MODULE), what="the process of the preview")
            process.suspend()
            if sum(process.cpu_times()[:2]) < ALL_S:
                break
            process.kill()  # it may have finished: once more
            answer.result()
        try:
            yield process, answer
        finally:
            if process.is_running():
                process.kill()


def test_a_preview_whose_process_dies_is_answered_and_the_next_one_works(api: ApiServer):
    ann = api.user("ann")
    with hanging(api, ann) as (process, answer):
        process.kill()
        said = answer.result().refused(503, "long.csv.gz", "killed by SIGKILL", "try again")
    assert "/" not in said
    assert looked(ann).ok()["columns"] == ["id", "name"]


def test_a_preview_that_hangs_delays_no_other_user(api: ApiServer):
    ben, eva = api.user("ben"), api.user("eva")
    with hanging(api, ben) as (_, answer):
        assert looked(eva).ok()["columns"] == ["id", "name"]
        assert not answer.done()


def test_a_process_that_died_between_two_previews_is_replaced(api: ApiServer):
    admin = api.admin()
    looked(admin).ok()
    first = api.child(MODULE)
    assert first is not None
    first.kill()
    until(lambda: not living([first]), what="its end")
    looked(admin).ok()
    second = api.child(MODULE)
    assert second is not None
    assert second.pid != first.pid
    looked(admin).ok()
    assert api.child(MODULE) == second


def test_these_processes_have_a_low_priority(api: ApiServer):
    looked(api.admin()).ok()
    process = api.child(MODULE)
    assert process is not None
    assert process.nice() == psutil.Process(api.command.pid).nice() + 10


def test_a_server_that_stops_leaves_no_process(tmp_path: Path):
    with ApiServer(tmp_path) as server:
        ann, ben = server.user("ann"), server.user("ben")
        with hanging(server, ann) as (busy, _):
            looked(ben).ok()
            processes = psutil.Process(server.command.pid).children()
            assert len([each for each in processes if MODULE in each.cmdline()]) == 2
            assert server.stop().code == 0
            assert busy in processes
            assert living(processes) == []


def test_a_server_that_is_killed_leaves_no_process(tmp_path: Path):
    with ApiServer(tmp_path) as server:
        looked(server.admin()).ok()
        process = server.child(MODULE)
        assert process is not None
        server.kill()
        until(lambda: not living([process]), what="the end of the process")
