"""The server and its processes are killed at bad moments: no row is lost or doubled."""

import json
import os
import signal
import threading
from pathlib import Path

import psutil
import pytest

from tests.kit.api_server import ApiServer, Caller, rows_csv
from tests.kit.command import living, until

FILE_WORKER, SUPERVISOR = "headgate.app.processes.file_worker", "headgate.app.processes.supervisor"
ROWS = 10_000
SLOW = {"ingest__max_batch_rows": 100}
"""Small batches, so that there is time to do harm."""


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Each store."""
    if request.param == "postgres":
        url: str = request.getfixturevalue("postgres_url")
        return url
    return f"sqlite:///{tmp_path}/headgate.db"


def child(server: ApiServer, module: str) -> psutil.Process:
    """A process of the server, once it is there."""
    found: list[psutil.Process] = []

    def there() -> bool:
        process = server.child(module)
        found[:] = [process] if process else []
        return bool(found)

    until(there, what=module)
    return found[0]


def total(caller: Caller, job_id: str) -> int:
    count: int = caller.job(job_id)["counts"]["total"]
    return count


def assert_whole(caller: Caller, job_id: str, rows: int = ROWS) -> None:
    """Every row became exactly one item, and each was run to its end."""
    job = caller.ended(job_id)
    assert (job["state"], job["lastError"]) == ("DONE", None)
    assert job["counts"]["total"] == job["counts"]["done"] == rows
    keys = [item["key"] for item in caller.items(job_id, pageSize=1000)]
    assert keys == [str(n) for n in range(1, rows + 1)]


def test_a_killed_file_worker_is_replaced_and_continues_reading(tmp_path: Path, database: str):
    with ApiServer(tmp_path, database, **SLOW) as server:
        admin = server.admin()
        job_id = admin.send(rows_csv(ROWS), handler="shop.plain")
        until(lambda: total(admin, job_id) > 0, what="the first rows")
        file_worker = child(server, FILE_WORKER)
        file_worker.kill()
        until(lambda: child(server, FILE_WORKER).pid != file_worker.pid, what="another file worker")
        assert_whole(admin, job_id)
        server.project.assert_clean()
        assert server.stop().code == 0


def test_a_killed_supervisor_is_replaced_and_work_continues(tmp_path: Path, database: str):
    with ApiServer(tmp_path, database) as server:
        admin = server.admin()
        log = tmp_path / "log"
        job_id = admin.send(rows_csv(3_000), config=json.dumps({"log": str(log)}))
        until(lambda: admin.job(job_id)["counts"]["done"] > 0, what="work to begin")
        supervisor = child(server, SUPERVISOR)
        workers = supervisor.children(recursive=True)
        supervisor.kill()
        until(lambda: not living(workers), what="its workers to follow it")
        assert_whole(admin, job_id, 3_000)
        server.project.assert_clean()
        assert server.stop().code == 0


@pytest.mark.parametrize("at", [1, 9_000])
def test_a_killed_server_continues_reading_when_it_is_started_again(tmp_path: Path, at: int):
    with ApiServer(tmp_path, **SLOW) as server:
        admin = server.admin()
        job_id = admin.send(rows_csv(ROWS), handler="shop.plain")
        until(lambda: total(admin, job_id) >= at, what=f"{at} rows")
        server.kill()  # none of its processes is left
        server.start()
        assert_whole(server.admin(), job_id)
        server.project.assert_clean()


def test_a_server_that_is_killed_right_after_its_answer_keeps_the_job(tmp_path: Path):
    with ApiServer(tmp_path) as server:
        job_id = server.admin().send(rows_csv(50))
        server.kill()
        server.start()
        assert_whole(server.admin(), job_id, 50)


def test_a_server_killed_during_an_upload_has_no_job_of_it(tmp_path: Path):
    with ApiServer(tmp_path) as server:
        admin = server.admin()
        content = rows_csv(2_000_000)
        sender = threading.Thread(target=_send_in_vain, args=(admin, content))
        sender.start()
        until(lambda: any(_sizes(server)), what="the upload to begin")
        server.kill()
        sender.join()
        server.start()
        assert server.admin().pages("/api/jobs") == []


def _send_in_vain(caller: Caller, content: bytes) -> None:
    try:
        caller.upload(("r.csv", content), handler="shop.plain")
    except OSError:
        return


def _sizes(server: ApiServer) -> list[int]:
    return [file.stat().st_size for folder in server.uploads() for file in folder.iterdir()]


def test_a_refusal_that_was_interrupted_is_finished_later(tmp_path: Path):
    """A bad row far down: the file_worker is killed while it removes the items."""
    with ApiServer(tmp_path, **SLOW) as server:
        admin = server.admin()
        bad = rows_csv(ROWS) + b"one,two,three,four\n"
        job_id = admin.send(bad, handler="shop.plain", onBadRow="fail")
        admin.reached(job_id, "FAILED")
        child(server, FILE_WORKER).kill()
        until(lambda: total(admin, job_id) == 0, what="the items to go")
        assert admin.job(job_id)["state"] == "FAILED"
        server.project.assert_clean()


def export_state(admin: Caller, path: str) -> str:
    return str(admin.ask("GET", path, headers={"Accept": "application/json"}).json["state"])


def test_the_export_of_a_killed_file_worker_is_written_again(tmp_path: Path):
    with ApiServer(tmp_path) as server:
        admin = server.admin()
        job_id = admin.done(rows_csv(20_000), handler="shop.plain")
        asked = admin.post(f"/api/jobs/{job_id}/export", format="csv").ok(202)
        path = f"/api/jobs/{job_id}/exports/{asked['id']}"
        until(lambda: export_state(admin, path) != "QUEUED", what="the file_worker to begin")
        os.kill(child(server, FILE_WORKER).pid, signal.SIGKILL)
        until(lambda: export_state(admin, path) == "DONE", what="the export")
        assert admin.get(path).body.count(b"\n") == 20_001
        assert [*(server.data / "exports").rglob("*.part")] == []  # SL6


def test_a_signal_to_every_process_lets_running_items_finish(tmp_path: Path):
    """As systemd stops a service."""
    gate = tmp_path / "gate"
    with ApiServer(tmp_path) as server:
        admin = server.admin()
        config = json.dumps({"gate": str(gate)})
        job_id = admin.send(rows_csv(4), handler="shop.gated", config=config)
        until(lambda: admin.job(job_id)["counts"]["processing"] == 4, what="all to run")
        top = psutil.Process(server.command.pid)
        for process in (top, *top.children(recursive=True)):
            process.terminate()
        until(lambda: "stopping" in server.talk, what="the server to stop")
        gate.touch()
        ended = server.command.wait()
        assert (ended.code, "started again" in ended.err) == (0, False), ended.err
        server.start()
        items = server.admin().items(job_id)
        assert [(item["status"], item["attempts"]) for item in items] == [("DONE", 1)] * 4


def test_nothing_is_left_when_the_server_ends(tmp_path: Path):
    server = ApiServer(tmp_path)
    with server:
        child(server, FILE_WORKER)
        child(server, SUPERVISOR)
        admin = server.admin()
        job_id = admin.done(rows_csv(5))
        ended = server.stop()  # waits for all its processes
        assert ended.code == 0, ended.err
        assert "Traceback" not in ended.err
        server.start()
        assert server.admin().job(job_id)["state"] == "DONE"
        Caller(server.url, admin.token).get("/api/me").refused(401)  # of the run before
