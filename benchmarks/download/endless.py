"""64 files that never end, for 30 seconds: what the command and its workers hold in memory."""

from __future__ import annotations

import contextlib
import json
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil

from benchmarks.command import descendants_kb
from benchmarks.download.files import require_space
from benchmarks.download.ours import Download
from benchmarks.harness import Bench, Contender
from benchmarks.measurement import FailedError, Values
from benchmarks.scripts import ROOT
from tests.kit.ports import LOOPBACK

OPEN_WITHIN_S = 60.0
LOOK_S = 0.5
MOST_BYTES_PER_S = 8_000_000
"""Of one stream."""


def run(bench: Bench) -> Values:
    count, seconds = bench.sizes.endless, bench.sizes.endless_s
    require_space(bench.inputs, MOST_BYTES_PER_S * count * (seconds + 10))
    with bench.scratch() as home, streaming(count) as server:
        authority = f"{LOOPBACK}:{heard(server)['port']}"
        download = Download(home)
        urls = [f"http://{authority}/{number:05d}.pdf" for number in range(count)]
        download.prepare(urls, wide_open=True)
        started = time.perf_counter()
        with download.running() as process:
            await_all(server, process)
            held = held_mb(process, seconds)
            if process.poll() is not None:
                raise FailedError(f"headgate ended too early, with {process.returncode}")
        streamed_s = time.perf_counter() - started
        server.terminate()
        sent = heard(server)["sent"]
    return {**held, "mb_per_s": sent / streamed_s / 1e6}


@contextmanager
def streaming(count: int) -> Iterator[subprocess.Popen[bytes]]:
    words = [sys.executable, "-m", "benchmarks.download.streams", "--expected", str(count)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE) as server:
        try:
            yield server
        finally:
            server.terminate()


def heard(server: subprocess.Popen[bytes]) -> dict[str, Any]:
    """The next thing that it says."""
    assert server.stdout is not None
    return json.loads(server.stdout.readline())


def await_all(server: subprocess.Popen[bytes], process: subprocess.Popen[bytes]) -> None:
    """Until the server says that all streams are open."""
    deadline = time.monotonic() + OPEN_WITHIN_S
    while not select.select([server.stdout], [], [], LOOK_S)[0]:
        if process.poll() is not None:
            raise FailedError(f"headgate ended too early, with {process.returncode}")
        if time.monotonic() > deadline:
            raise FailedError(f"not all streams were open within {OPEN_WITHIN_S:.0f} s")
    heard(server)


def held_mb(process: subprocess.Popen[bytes], seconds: float) -> Values:
    """The peak of the largest worker, and the most that command and workers held together."""
    worker_kb = together = 0.0
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        worker_kb = max([worker_kb, *descendants_kb(process.pid)])
        together = max(together, tree_bytes(process.pid))
        time.sleep(LOOK_S)
    return {"worker_rss_mb": worker_kb / 1024, "together_rss_mb": together / 1024**2}


def tree_bytes(pid: int) -> float:
    """Resident memory, with what processes share counted once for each of them."""
    with contextlib.suppress(psutil.NoSuchProcess):
        command = psutil.Process(pid)
        family = [command, *command.children(recursive=True)]
        return float(sum(each.memory_info().rss for each in family))
    return 0.0


ENDLESS = Contender("headgate download, endless streams", run)
