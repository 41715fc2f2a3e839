"""`python -m benchmarks.attacks.kills`: background processes are killed while the log is not read.

Each is killed 20 times on a server whose standard error is a closed pipe. Measured: how many were
replaced, and the longest time from a kill until the next process works and the server is healthy.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
from rich.console import Console

from benchmarks.attacks.report import Figure, show
from benchmarks.attacks.target import HANDLERS, READY_S, STOP_S, Target

PROCESSES = {
    "file worker": "headgate.app.processes.file_worker",
    "supervisor": "headgate.app.processes.supervisor",
    "worker": "headgate.app.processes.worker",
}
KILLS = 20
MOST_S, AIM_S = 10.0, 6.0
STEP_S = 0.02


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attacks.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS, help="of each process")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="headgate-kills-") as name, _serving(Path(name)) as at:
        figures = [figure for each in PROCESSES for figure in _killed(at, each, options.kills)]
    show(figures, Console())
    return int(any(each.missed for each in figures))


def _killed(target: Target, name: str, kills: int) -> list[Figure]:
    module = PROCESSES[name]
    waits: list[float] = []
    for _ in range(kills):
        _wait(lambda: _is_well(target, name, None))
        process = _process(target, module)
        assert process is not None, f"there is no {name}"
        process.kill()
        killed_s = time.monotonic()
        before = process.pid
        if not _wait(lambda: _is_well(target, name, before)):  # noqa: B023  waited for at once
            break
        waits.append(time.monotonic() - killed_s)
    what = f"{name}s that were not replaced, of {kills} killed"
    slowest = max(waits, default=READY_S)
    return [
        Figure("kills", what, float(kills - len(waits)), 0.0),
        Figure("kills", f"slowest recovery from the kill of a {name}", slowest, MOST_S, AIM_S, "s"),
    ]


def _is_well(target: Target, name: str, killed: int | None) -> bool:
    """Whether the process is another one than the killed one and works, and health is good."""
    process = _process(target, PROCESSES[name])
    if process is None or process.pid == killed:
        return False
    if name == "worker":
        workers = _asked(target, "/api/workers")["items"]
        works = process.pid in {each["pid"] for each in workers}
    else:
        loops = _asked(target, "/api/system")["loops"]
        works = all(each["alive"] for each in loops if each["name"].startswith(name))
    return works and target.ask(target.admin, "GET", "/healthz")[0] == 200


def _asked(target: Target, path: str) -> Any:
    status, body = target.ask(target.admin, "GET", path)
    assert status == 200, body
    return json.loads(body)


def _process(target: Target, module: str) -> psutil.Process | None:
    with contextlib.suppress(psutil.NoSuchProcess):
        for process in psutil.Process(target.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if process.status() != psutil.STATUS_ZOMBIE and module in process.cmdline():
                    return process
    return None


def _wait(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + READY_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(STEP_S)
    return True


@contextmanager
def _serving(folder: Path) -> Iterator[Target]:
    """A server whose standard error is a pipe without a reader."""
    reading, closed = os.pipe()
    os.close(reading)
    words = ["serve", "--port", "0", "--json", "--db", f"sqlite:///{folder}/headgate.db"]
    process = subprocess.Popen(
        [sys.executable, "-m", "headgate", *words, "--handlers", str(HANDLERS)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=closed,
    )
    os.close(closed)
    assert process.stdout is not None
    try:
        opened = json.loads(process.stdout.readline())
        where = urlsplit(opened["url"])
        yield Target(process.pid, where.hostname or "", where.port or 0, opened["token"])
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
