"""Drain a full pgqueuer queue on PostgreSQL with one or more processes and print one JSON line.

Runs under the bench environment's Python, so it imports nothing of ours.
The clock runs from the first execution to the end of the last committed log flush.
pgqueuer stores no results, so it writes less per item than we do.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from dataclasses import asdict, dataclass
from datetime import timedelta
from multiprocessing import get_context
from typing import Any

import asyncpg
import pgqueuer
import psycopg
import uvloop
from pgqueuer.db import AsyncpgDriver, AsyncpgPoolDriver, PsycopgDriver
from pgqueuer.types import QueueExecutionMode


@dataclass(frozen=True)
class Settings:
    dsn: str
    items: int
    processes: int
    managers: int
    batch_size: int
    max_concurrent: int
    driver: str
    analyze: bool


@dataclass
class Stopwatch:
    """When the first item began and the last flush was committed, in one process."""

    first: float = 0.0
    last: float = 0.0
    count: int = 0


class TimedQueries(pgqueuer.Queries):
    """The library's own queries, with a time stamp after each committed flush of completions."""

    watch: Stopwatch

    async def log_jobs(self, job_status: list[Any]) -> None:
        await super().log_jobs(job_status)
        self.watch.last = time.monotonic()
        self.watch.count += len(job_status)


async def open_driver(settings: Settings) -> Any:
    match settings.driver:
        case "asyncpg":
            return AsyncpgDriver(await asyncpg.connect(settings.dsn))
        case "asyncpg-pool":
            return AsyncpgPoolDriver(
                await asyncpg.create_pool(settings.dsn, min_size=3, max_size=5)
            )
        case _:
            connection = await psycopg.AsyncConnection.connect(settings.dsn, autocommit=True)
            return PsycopgDriver(connection)


async def fill(settings: Settings) -> float:
    """Install a fresh schema and enqueue everything in large batches."""
    connection = await asyncpg.connect(settings.dsn)
    queries = pgqueuer.Queries(AsyncpgDriver(connection))
    await queries.install()
    started = time.monotonic()
    for start in range(0, settings.items, 5_000):
        numbers = range(start, min(start + 5_000, settings.items))
        payloads: list[bytes | None] = [f"{number:08d}".encode() + b"x" * 192 for number in numbers]
        await queries.enqueue(["noop"] * len(payloads), payloads, [0] * len(payloads))
    seconds = time.monotonic() - started
    if settings.analyze:
        await connection.execute("VACUUM ANALYZE")
    await connection.close()
    return seconds


async def manage(settings: Settings, watch: Stopwatch) -> None:
    driver = await open_driver(settings)
    queries = TimedQueries(driver)
    queries.watch = watch
    manager = pgqueuer.PgQueuer(driver, queries=queries)

    @manager.entrypoint("noop")
    async def noop(_job: pgqueuer.Job) -> None:
        if not watch.first:
            watch.first = time.monotonic()

    await manager.run(
        dequeue_timeout=timedelta(milliseconds=50),
        batch_size=settings.batch_size,
        mode=QueueExecutionMode.drain,
        max_concurrent_tasks=settings.max_concurrent or None,
        log_aggregation_interval=timedelta(0),
    )


async def drain(settings: Settings) -> Stopwatch:
    watch = Stopwatch()
    await asyncio.gather(*(manage(settings, watch) for _ in range(settings.managers)))
    return watch


def work(settings: Settings, barrier: Any, results: Any) -> None:
    """One worker process: wait for the others, so that no process gets a head start."""
    barrier.wait()
    results.put(asdict(uvloop.run(drain(settings))))


def drain_all(settings: Settings) -> list[dict[str, Any]]:
    context = get_context("spawn")
    barrier = context.Barrier(settings.processes)
    results = context.Queue()
    children = [
        context.Process(target=work, args=(settings, barrier, results))
        for _ in range(settings.processes)
    ]
    for child in children:
        child.start()
    watches = [results.get(timeout=900) for _ in children]
    for child in children:
        child.join()
    return watches


def parse() -> Settings:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--items", type=int, default=50_000)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--managers", type=int, default=1, help="queue managers in each process")
    parser.add_argument("--batch-size", type=int, default=100)
    parser.add_argument("--max-concurrent", type=int, default=0, help="0 is unlimited")
    parser.add_argument(
        "--driver", choices=["asyncpg", "asyncpg-pool", "psycopg"], default="asyncpg"
    )
    parser.add_argument(
        "--analyze", action="store_true", help="VACUUM ANALYZE before the clock starts"
    )
    return Settings(**vars(parser.parse_args()))


def main() -> int:
    settings = parse()
    fill_seconds = uvloop.run(fill(settings))
    watches = drain_all(settings)
    count = sum(watch["count"] for watch in watches)
    if count != settings.items:
        print(f"pgqueuer logged {count} jobs of {settings.items}", file=sys.stderr)
        return 1
    seconds = max(watch["last"] for watch in watches) - min(
        w["first"] for w in watches if w["first"]
    )
    report = {
        "items": settings.items,
        "seconds": seconds,
        "items_per_s": settings.items / seconds,
        "fill_seconds": fill_seconds,
        "per_process": [watch["count"] for watch in watches],
        "version": pgqueuer.__version__,
    }
    print(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
