"""Our own side, measured as a user runs it: the real command, in processes of its own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import psutil

from benchmarks.measurement import FailedError, UnavailableError
from benchmarks.scripts import LIMIT_S, ROOT, last_line

HANDLERS = ROOT / "benchmarks" / "handlers.py"
# Rarely, for looking through all processes takes time from the two cores that are measured.
POLL_S = 0.25


@dataclass(frozen=True)
class Run:
    """One `headgate run`: which handler, on which file, into which store."""

    handler: str
    source: Path
    database: str
    concurrency: int
    processes: int = 1

    def command(self) -> list[str]:
        return [
            program(),
            "run",
            f"{HANDLERS}:{self.handler}",
            str(self.source),
            "--db",
            self.database,
            "--concurrency",
            str(self.concurrency),
            "--processes",
            str(self.processes),
            "--json",
            "--quiet",
        ]


@dataclass
class Report:
    """The command's own last line, how long all of it took, and what one worker held at most."""

    totals: dict[str, Any]
    seconds: float
    worker_rss_mb: float


def program() -> str:
    path = Path(sys.executable).with_name("headgate")
    if not path.exists():
        raise UnavailableError("headgate is not installed beside this Python; `make setup`")
    return str(path)


def run(job: Run, folder: Path) -> Report:
    """Run to the end; every row must end as done, or the figure would be of something else."""
    report = execute(job.command(), folder)
    done, total = report.totals["done"], report.totals["total"]
    if done != total:
        raise FailedError(f"headgate run finished {done} of {total} rows")
    return report


def execute(
    words: Sequence[str],
    folder: Path,
    codes: Container[int] = (0,),
    environment: Mapping[str, str] | None = None,
) -> Report:
    """Run a command that ends with a line of JSON, and with one of these codes."""
    around = {**os.environ, **(environment or {})}
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        with subprocess.Popen(words, cwd=folder, stdout=out, stderr=err, env=around) as process:
            try:
                peak = watch(process)
            finally:
                if process.poll() is None:
                    process.kill()  # its workers see that and end by themselves
        seconds = time.perf_counter() - started
        return Report(read(process, out, err, codes), seconds, peak)


def read(
    process: subprocess.Popen[bytes], out: IO[str], err: IO[str], codes: Container[int]
) -> dict[str, Any]:
    out.seek(0)
    err.seek(0)
    if process.returncode not in codes:
        words = err.read().strip().splitlines() or ["no message"]
        raise FailedError(f"headgate ended with {process.returncode}: {words[-1]}")
    return last_line(out.read(), "headgate")


def watch(process: subprocess.Popen[bytes]) -> float:
    """Wait for the end, noting the peak memory (MB) of the processes below the command."""
    peak_kb = 0.0
    deadline = time.monotonic() + LIMIT_S
    while process.poll() is None:
        peak_kb = max([peak_kb, *descendants_kb(process.pid)])
        if time.monotonic() > deadline:
            raise FailedError(f"headgate did not end within {LIMIT_S} s")
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(POLL_S)
    return peak_kb / 1024


def descendants_kb(pid: int) -> list[float]:
    try:
        children = psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return [peak_kb(child) for child in children]


def peak_kb(child: psutil.Process) -> float:
    """The kernel's own high-water mark where it keeps one, so that polling misses no peak."""
    try:
        status = Path(f"/proc/{child.pid}/status").read_text()
    except OSError:
        return resident_kb(child)
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return float(line.split()[1])
    return 0.0


def resident_kb(child: psutil.Process) -> float:
    try:
        return float(child.memory_info().rss) / 1024
    except psutil.Error:
        return 0.0
