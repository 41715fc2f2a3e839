"""Runs, several at a time: at these rates a run mostly waits."""

from __future__ import annotations

import csv
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.limiters.contender import Contender, Task
from benchmarks.limiters.limiter import Limiter, Server
from benchmarks.limiters.processes import Processes, running
from benchmarks.limiters.score import Score, began, judge
from benchmarks.measurement import FailedError, UnavailableError
from tests.kit.access_log import Logged
from tests.kit.service import ServiceFailed

START_S = 60.0
"""How long a contender may take to send its first request."""
LOOK_S = 0.5
GRACE_S = 0.5
"""A request's line follows its answer."""


@dataclass(frozen=True)
class Entry:
    """What is to be run."""

    limiter: Limiter
    contender: Contender
    processes: int

    @property
    def name(self) -> str:
        many = "es" * (self.processes > 1)
        return f"{self.limiter.name}, {self.contender.name}, {self.processes} process{many}"


@dataclass(frozen=True)
class Terms:
    """For how long each run goes on, how many go on at once, and where their files are kept."""

    seconds: float
    at_once: int
    keep: Path | None = None


@dataclass(frozen=True)
class Result:
    """The score of an entry, or why there is none."""

    entry: Entry
    score: Score | None = None
    missing: str = ""
    failed: str = ""


def run_all(entries: Sequence[Entry], terms: Terms, say: Callable[[Result], None]) -> list[Result]:
    """Every entry, in order; results are told as they come."""
    cancelled = threading.Event()

    def run(entry: Entry) -> Result:
        result = attempt(entry, terms, cancelled)
        say(result)
        return result

    with ThreadPoolExecutor(terms.at_once) as pool:
        try:
            return list(pool.map(run, entries))
        except BaseException:
            cancelled.set()
            raise


def attempt(entry: Entry, terms: Terms, cancelled: threading.Event) -> Result:
    if cancelled.is_set():
        return Result(entry, missing="cancelled")
    try:
        return Result(entry, measure(entry, terms, cancelled))
    except UnavailableError as error:
        return Result(entry, missing=str(error))
    except (FailedError, ServiceFailed) as error:
        return Result(entry, failed=str(error))


def measure(entry: Entry, terms: Terms, cancelled: threading.Event) -> Score:
    limiter, seconds = entry.limiter, terms.seconds
    with tempfile.TemporaryDirectory(prefix="headgate-limiters-") as name:
        folder = Path(name)
        with limiter.server() as server:
            task = Task(limiter, server.url(limiter.path), seconds, entry.processes, folder)
            with running(entry.contender.commands(task), folder) as processes:
                wait_out(server, processes, seconds, cancelled)
            log = server.log()
        if terms.keep:
            keep(folder, terms.keep / entry.name.replace("/", " a "), log)
    return judge(limiter, entry.contender.name, entry.processes, seconds, log)


def wait_out(
    server: Server, processes: Processes, seconds: float, cancelled: threading.Event
) -> None:
    """Return when the time is over that began with the first request."""
    until_s = time.time() + START_S  # noqa: TID251 -- as the log
    is_cold = True
    while (left_s := until_s - time.time()) > 0:  # noqa: TID251 -- as the log
        processes.check()
        if cancelled.wait(min(left_s, LOOK_S)):
            raise FailedError("cancelled")
        if is_cold and (log := server.log()):
            is_cold = False
            until_s = began(log) + seconds + GRACE_S
    processes.check()
    if is_cold:
        raise FailedError(f"nothing was asked for in {START_S:g} s")


def keep(folder: Path, kept: Path, log: Sequence[Logged]) -> None:
    """All that a run leaves behind, to explain its result."""
    shutil.copytree(folder, kept, dirs_exist_ok=True)
    with (kept / "requests.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["arrived_s", "took_s", "status"])
        writer.writerows((f"{each.arrived_s:.3f}", each.took_s, each.status) for each in log)
