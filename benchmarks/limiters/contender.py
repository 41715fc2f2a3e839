"""Who asks: our own command, and what people use instead of it."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks import command, environment
from benchmarks.limiters.limiter import Limiter
from benchmarks.scripts import ROOT

CALLERS = 32
"""Over all processes; more than any of the limits needs."""
SCRIPT = ROOT / "benchmarks" / "peers" / "limited_gets.py"
OURS = "headgate"


@dataclass(frozen=True)
class Task:
    """One run: at which limiter, where that is, for how long, by how many processes, and where."""

    limiter: Limiter
    url: str
    seconds: float
    processes: int
    folder: Path


class Contender(Protocol):
    """Knows the commands that do a task until they are interrupted."""

    name: str

    def commands(self, task: Task) -> list[list[str]]: ...


class Headgate:
    """`headgate run` on a fresh SQLite file; of the limiter it knows the address."""

    name = OURS

    def commands(self, task: Task) -> list[list[str]]:
        source = write_urls(task)
        write_settings(task)
        database = str(task.folder / "headgate.db")
        job = command.Run("ask", source, database, CALLERS, task.processes)
        return [job.command()]


class Backoff:
    """Callers that wait by themselves, ever longer, when they are refused: tenacity."""

    name = "backoff"

    def commands(self, task: Task) -> list[list[str]]:
        return peers(task, {})


class Told:
    """Callers behind a limiter that was told the truth: aiolimiter, or a semaphore."""

    name = "told"

    def commands(self, task: Task) -> list[list[str]]:
        return peers(task, task.limiter.truth.part(task.processes))


def peers(task: Task, options: dict[str, float]) -> list[list[str]]:
    python = environment.require()
    given = {"url": task.url, "callers": CALLERS // task.processes, **options}
    words = [part for name, value in given.items() for part in (f"--{name}", str(value))]
    return [[str(python), str(SCRIPT), *words] for _ in range(task.processes)]


def write_urls(task: Task) -> Path:
    path = task.folder / "urls.csv"
    # A run that takes longer than it should must not run out of items.
    count = task.limiter.most(task.seconds + 30)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["url"])
        writer.writerows([f"{task.url}?{number}"] for number in range(count))
    return path


def write_settings(task: Task) -> None:
    """Its address, so that it has a gate of its own; and no cache."""
    host = task.url.split("/")[2]
    text = f'[providers.limited]\nhosts = ["{host}"]\ncache.enabled = false\n'
    (task.folder / "headgate.toml").write_text(text)


CONTENDERS: tuple[Contender, ...] = (Headgate(), Backoff(), Told())
