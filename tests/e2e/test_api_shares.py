"""One user with much to do, or a slow connection, does not hold up another."""

import http.client
import select
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.kit.api_server import ApiServer, Caller, rows_csv
from tests.kit.command import until
from tests.kit.endless_servers import TrickleServer

FILE_WORKER = "headgate.app.processes.file_worker"
CAP = 6


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    settings = {
        "places__allow_private": "true",
        "server__unfinished_exports_per_user": CAP,
        "server__exports_at_once": 1,
        "server__exports_per_user": 1,
    }
    with ApiServer(tmp_path_factory.mktemp("shares"), **settings) as server:
        yield server


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """A server that gives up what is slow for a second."""
    settings = {
        "places__allow_private": "true",
        "places__slow_s": 1,
        "server__upload_slow_s": 1,
    }
    with ApiServer(tmp_path_factory.mktemp("hasty"), **settings) as server:
        yield server


def from_source(caller: Caller, url: str) -> str:
    made: str = caller.post("/api/jobs", {"handler": "shop.price", "source": url}).ok(202)["jobId"]
    return made


@contextmanager
def halted(server: ApiServer) -> Iterator[None]:
    """Nothing is read or written by the server meanwhile, so that all of it waits."""
    until(lambda: server.child(FILE_WORKER), what="the process that reads and writes files")
    process = server.child(FILE_WORKER)
    assert process is not None
    process.suspend()
    try:
        yield
    finally:
        process.resume()


@contextmanager
def half_upload(caller: Caller, piece: bytes = b"") -> Iterator[socket.socket]:
    """The beginning of an upload, without its end."""
    where = urlsplit(caller.url)
    lines = [
        "POST /api/jobs HTTP/1.1",
        f"Host: {where.hostname}",
        f"Authorization: Bearer {caller.token}",
        "Content-Type: multipart/form-data; boundary=half",
        "Content-Length: 100000",
    ]
    part = '--half\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nid\n'
    with socket.create_connection((where.hostname, where.port), timeout=60) as connection:
        connection.sendall("\r\n".join([*lines, "", part]).encode() + piece)
        yield connection


def answer_on(connection: socket.socket) -> tuple[int, str]:
    """The status and the body of the answer that comes on a connection."""
    with http.client.HTTPResponse(connection) as response:
        response.begin()
        return response.status, response.read().decode()


def test_slow_sources_do_not_delay_uploads_and_sources_of_others(api: ApiServer):
    """SH4."""
    ann, bob = api.user("ann"), api.user("bob")
    with TrickleServer() as slow, TrickleServer() as other:
        jobs = [from_source(ann, slow.file_url) for _ in range(4)]
        until(lambda: slow.asked >= 2, what="two sources to be copied")
        bob.done(rows_csv(1))
        another = from_source(bob, other.file_url)
        until(lambda: other.asked >= 1, what="the source of another user to be copied")
        assert {ann.job(job)["state"] for job in jobs} == {"INGESTING"}
        ann.done(rows_csv(1))  # nor does a user hold up their own uploads
        for caller, job in [*((ann, each) for each in jobs), (bob, another)]:
            caller.post(f"/api/jobs/{job}/cancel").ok()


def test_a_cancelled_source_is_not_copied_any_further(api: ApiServer):
    cem = api.user("cem")
    with TrickleServer() as slow, TrickleServer() as next_one:
        jobs = [from_source(cem, slow.file_url) for _ in range(2)]
        until(lambda: slow.asked >= 4, what="both slots of the user to be in use")  # stat and copy
        third = from_source(cem, next_one.file_url)
        for job in jobs:
            cem.post(f"/api/jobs/{job}/cancel").ok()
        until(lambda: next_one.asked >= 1, what="the next source to be copied")
        cem.post(f"/api/jobs/{third}/cancel").ok()


def test_slow_uploads_do_not_delay_uploads_of_others(api: ApiServer):
    """SM7."""
    dan, eve = api.user("dan"), api.user("eve")
    with ExitStack() as stack:
        slow = [stack.enter_context(half_upload(dan)) for _ in range(33)]
        eve.send(rows_csv(1))
        assert select.select(slow, [], [], 0)[0] == []  # none of them was answered, or ended


def test_an_upload_that_is_too_slow_is_ended(hasty: ApiServer):
    """SM7."""
    with half_upload(hasty.admin()) as connection:
        sent = 0
        while not select.select([connection], [], [], 0.1)[0]:
            connection.sendall(b"x")
            sent += 1
            assert sent < 500
        status, detail = answer_on(connection)
    assert status == 408
    assert "less than 1,000 bytes per second for 1 s" in detail
    assert hasty.uploads() == []


def test_a_silent_upload_is_ended(hasty: ApiServer):
    with half_upload(hasty.admin()) as connection:
        status, detail = answer_on(connection)
    assert status == 408
    assert "no data arrived for 1 s" in detail


def test_a_source_that_is_too_slow_makes_its_job_fail(hasty: ApiServer):
    """SH4."""
    admin = hasty.admin()
    with TrickleServer() as slow:
        failed = admin.ended(from_source(admin, slow.file_url))
    assert failed["state"] == "FAILED"
    assert "less than 1,000 bytes a second for 1 s" in failed["lastError"]
    assert "upload the file instead" in failed["lastError"]


def test_previews_of_line_ends_are_bounded(api: ApiServer):
    """SM11."""
    fay, gus = api.user("fay"), api.user("gus")
    blank = b"id,name\n" + b"\n" * 5_000_000

    def preview(_: int) -> str:
        answer = fay.upload(("a.csv", blank), to="/api/preview")
        return answer.refused(422, "bytes of blank lines follow line 1: remove them")

    with ThreadPoolExecutor(4) as threads:
        previews = [threads.submit(preview, n) for n in range(4)]
        gus.send(rows_csv(1))
        assert all(each.result() for each in previews)


def asked(caller: Caller, job: str) -> str:
    """The path of a new export."""
    made = caller.post(f"/api/jobs/{job}/export", format="csv").ok(202)
    return f"/api/jobs/{job}/exports/{made['id']}"


def finished(caller: Caller, path: str) -> Any:
    """When an export was finished."""
    found: dict[str, Any] = {}

    def done() -> bool:
        found.update(caller.ask("GET", path, headers={"Accept": "application/json"}).json)
        return found["state"] == "DONE"

    until(done, what="the export")
    return found["finishedAt"]


def test_many_exports_do_not_delay_the_export_of_another_user(api: ApiServer):
    """SL5."""
    hal, ida = api.user("hal"), api.user("ida")
    many, one = hal.done(rows_csv(3)), ida.done(rows_csv(1))
    with halted(api):
        exports = [asked(hal, many) for _ in range(CAP)]
        refused = hal.post(f"/api/jobs/{many}/export", format="csv")
        refused.refused(429, f"{CAP} unfinished exports, and {CAP} are allowed")
        last = asked(ida, one)
    at = [finished(hal, path) for path in exports]
    assert finished(ida, last) < at[2]
    assert at == sorted(at)
    finished(hal, asked(hal, many))  # there is room again


def test_the_partial_export_of_a_killed_process_is_removed(api: ApiServer):
    """SL6."""
    joe = api.user("joe")
    job = joe.done(rows_csv(1))
    with halted(api):
        path = asked(joe, job)
        folder = api.data / "exports" / job
        folder.mkdir(parents=True)
        number = path.rpartition("/")[2]
        left = [folder / f".{number}.csv{more}.a1b2.part" for more in ("", ".meta.json")]
        of_another = folder / f".{number}0.csv.a1b2.part"
        for part in (*left, of_another):
            part.write_bytes(b"half")
    finished(joe, path)
    assert [part for part in (*left, of_another) if part.exists()] == [of_another]
