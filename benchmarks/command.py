"""Our own side, measured as a user runs it: the real command, in processes of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
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
        program = Path(sys.executable).with_name("headgate")
        if not program.exists():
            raise UnavailableError("headgate is not installed beside this Python; `make setup`")
        return [
            str(program),
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
    """The command's own last line, and the largest memory that one of its workers held."""

    totals: dict[str, Any]
    worker_rss_mb: float


def run(job: Run, folder: Path) -> Report:
    """Run to the end; every row must end as done, or the figure would be of something else."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        with subprocess.Popen(job.command(), cwd=folder, stdout=out, stderr=err) as process:
            try:
                peak = watch(process)
            finally:
                if process.poll() is None:
                    process.kill()  # its workers see that and end by themselves
        totals = read(process, out, err)
    if totals["done"] != totals["total"]:
        raise FailedError(f"headgate run finished {totals['done']} of {totals['total']} rows")
    return Report(totals, peak)


def read(process: subprocess.Popen[bytes], out: IO[str], err: IO[str]) -> dict[str, Any]:
    out.seek(0)
    err.seek(0)
    if process.returncode:
        words = err.read().strip().splitlines() or ["no message"]
        raise FailedError(f"headgate run ended with {process.returncode}: {words[-1]}")
    return last_line(out.read(), "headgate run")


def watch(process: subprocess.Popen[bytes]) -> float:
    """Wait for the end, noting the peak memory (MB) of the processes below the command."""
    peak_kb = 0.0
    deadline = time.monotonic() + LIMIT_S
    while process.poll() is None:
        peak_kb = max([peak_kb, *descendants_kb(process.pid)])
        if time.monotonic() > deadline:
            raise FailedError(f"headgate run did not end within {LIMIT_S} s")
        time.sleep(POLL_S)
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
