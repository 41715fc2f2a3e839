"""Headgate itself as contenders: the real command on a fresh store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from benchmarks import command
from benchmarks.harness import Bench, Contender, Sizes
from benchmarks.measurement import Values
from benchmarks.scripts import numbers, run_module
from benchmarks.workload import write_csv

Store = Callable[[Bench, Path], AbstractContextManager[str]]

DRAIN_CONCURRENCY = 32
WAITING_CONCURRENCY = 50
WAIT_S = 0.02  # what the handler `wait` waits


@contextmanager
def sqlite(_bench: Bench, folder: Path) -> Iterator[str]:
    yield str(folder / "headgate.db")


@contextmanager
def postgres(bench: Bench, _folder: Path) -> Iterator[str]:
    with bench.postgres.database() as url:
        yield url


def drain(
    name: str,
    store: Store,
    items: Callable[[Sizes], int] = lambda sizes: sizes.drain,
    *,
    processes: int = 1,
    large: bool = False,
) -> Contender:
    """No-op items: how fast they come in, how fast they get done, how large the worker grows."""

    def run(bench: Bench) -> Values:
        count = items(bench.sizes)
        source = write_csv(bench.inputs / f"{count}.csv", count)
        with bench.scratch() as folder, store(bench, folder) as url:
            job = command.Run("noop", source, url, DRAIN_CONCURRENCY, processes)
            report = command.run(job, folder)
            pages = read_pages(url, report) if large else {}
        return {
            "items_per_s": report.totals["items_per_s"],
            "rows_per_s": count / report.totals["ingest_seconds"],
            "worker_rss_mb": report.worker_rss_mb,
            **pages,
        }

    return Contender(name, run)


def read_pages(url: str, report: command.Report) -> Values:
    """While a large store lies there, the times of its first and its deepest page."""
    job = {"job": report.totals["job_id"], "total": report.totals["total"]}
    found = run_module("benchmarks.pages", {"db": url, **job})
    return numbers(found, "page_ratio_input", "page_ratio_updated")


def waiting(name: str, store: Store) -> Contender:
    """Items that only wait: the share of the ideal time that the engine leaves to them."""

    def run(bench: Bench) -> Values:
        count = bench.sizes.waiting
        source = write_csv(bench.inputs / f"{count}.csv", count)
        with bench.scratch() as folder, store(bench, folder) as url:
            job = command.Run("wait", source, url, WAITING_CONCURRENCY)
            seconds = command.run(job, folder).totals["drain_seconds"]
        return {"drain_seconds": seconds, "ideal_seconds": count * WAIT_S / WAITING_CONCURRENCY}

    return Contender(name, run)


SQLITE = drain("headgate, SQLite", sqlite)
SQLITE_SMALL = drain("headgate, SQLite, few items", sqlite, lambda sizes: sizes.small)
SQLITE_LARGE = drain("headgate, SQLite, many items", sqlite, lambda sizes: sizes.large, large=True)
SQLITE_WAITING = waiting("headgate, SQLite, waiting", sqlite)
POSTGRES = drain("headgate, PostgreSQL", postgres)
POSTGRES_TWO = drain("headgate, PostgreSQL, 2 processes", postgres, processes=2)
POSTGRES_SMALL = drain("headgate, PostgreSQL, few items", postgres, lambda sizes: sizes.small)
POSTGRES_LARGE = drain(
    "headgate, PostgreSQL, many items", postgres, lambda sizes: sizes.large, large=True
)
POSTGRES_WAITING = waiting("headgate, PostgreSQL, waiting", postgres)
