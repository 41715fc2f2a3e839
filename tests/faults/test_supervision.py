"""Processes behind the server are killed while nothing can be logged: they are replaced."""

import os
from pathlib import Path
from typing import Any

from tests.kit.api_server import ApiServer, Caller, rows_csv
from tests.kit.command import until

PROCESSES = {
    "file worker": "headgate.app.processes.file_worker",
    "supervisor": "headgate.app.processes.supervisor",
}
KILLS = 2
"""Of each process; `benchmarks.attacks` has the storm."""


def are_back(caller: Caller, restarts: int) -> bool:
    loops: list[dict[str, Any]] = caller.get("/api/system").ok()["loops"]
    found = {each["name"]: each for each in loops}
    return all(found[name]["alive"] and found[name]["restarts"] == restarts for name in PROCESSES)


def test_killed_processes_are_replaced_although_nothing_can_be_logged(tmp_path: Path):
    reading, closed = os.pipe()
    os.close(reading)
    server = ApiServer(tmp_path)
    server.project.stderr = closed
    with server:
        admin = server.admin()
        for kills in range(KILLS):
            until(lambda: are_back(admin, kills), what=f"both after {kills} kills")  # noqa: B023
            for module in PROCESSES.values():
                process = server.child(module)
                assert process is not None
                process.kill()
        until(lambda: are_back(admin, KILLS), what="both after the last kill")
        until(lambda: admin.get("/healthz").status == 200, what="good health")
        job_id = admin.send(rows_csv(20), handler="shop.plain")
        assert admin.ended(job_id)["counts"]["done"] == 20
        assert admin.get("/api/system").ok()["logLinesLost"] >= KILLS * len(PROCESSES)
        assert server.stop().code == 0
    os.close(closed)
