"""Drain a full huey queue on SQLite and print one JSON line.

Runs under the bench environment's Python, so it imports nothing of ours.
The clock runs from the first execution to the last stored result.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

if "greenlet" in sys.argv:  # gevent must patch before anything else imports threading
    from gevent import monkey

    monkey.patch_all()

import huey as huey_package
from huey import CySqliteHuey, SqliteHuey
from huey.consumer import Consumer
from huey.signals import SIGNAL_COMPLETE

RESULT = {"status": "ok", "score": 0.987654321, "label": "no-op", "note": "x" * 40}


class Stopwatch:
    """First start, last finish and count per worker, in memory that forked workers share."""

    def __init__(self, workers: int) -> None:
        context = get_context("fork")
        self.first = context.RawArray("d", workers)
        self.last = context.RawArray("d", workers)
        self.count = context.RawArray("q", workers)
        self.taken = context.Value("i", 0)
        self.local = threading.local()

    def take_slot(self) -> None:
        with self.taken.get_lock():
            self.local.slot = self.taken.value
            self.taken.value += 1

    def started(self) -> None:
        slot = self.local.slot
        if not self.first[slot]:
            self.first[slot] = time.monotonic()

    def finished(self) -> None:
        slot = self.local.slot
        self.last[slot] = time.monotonic()
        self.count[slot] += 1

    def total(self) -> int:
        return sum(self.count)

    def seconds(self) -> float:
        return max(self.last) - min(at for at in self.first if at)


@dataclass(frozen=True)
class Settings:
    items: int
    worker_type: str
    workers: int
    storage: str
    fsync: bool
    cache_mb: int
    folder: Path


def open_queue(settings: Settings, *, fsync: bool) -> Any:
    storage = CySqliteHuey if settings.storage == "cysqlite" else SqliteHuey
    return storage(
        "bench",
        filename=str(settings.folder / "huey.db"),
        fsync=fsync,
        cache_mb=settings.cache_mb,
        timeout=30,
    )


def declare(queue: Any, watch: Stopwatch | None) -> Any:
    """Register the no-op task; the filler and the drainer must agree on its name."""

    @queue.task(name="noop")
    def noop(_payload: str) -> dict[str, object]:
        if watch is not None:
            watch.started()
        return RESULT

    return noop


def fill(settings: Settings) -> float:
    """Enqueue without fsync, which is not what is measured; the checkpoint settles the file."""
    queue = open_queue(settings, fsync=False)
    noop = declare(queue, None)
    started = time.monotonic()
    for number in range(settings.items):
        noop(f"{number:08d}" + "x" * 192)
    seconds = time.monotonic() - started
    queue.storage.sql("pragma wal_checkpoint(truncate)")
    queue.storage.close()
    return seconds


def drain(settings: Settings) -> Stopwatch:
    queue = open_queue(settings, fsync=settings.fsync)
    watch = Stopwatch(settings.workers)
    declare(queue, watch)
    queue.on_startup(name="slot")(watch.take_slot)
    queue.signal(SIGNAL_COMPLETE)(lambda _signal, _task: watch.finished())
    consumer = Consumer(
        queue,
        workers=settings.workers,
        worker_type=settings.worker_type,
        periodic=False,
        initial_delay=0.01,
        check_worker_health=False,
    )
    consumer.start()
    deadline = time.monotonic() + 900
    while watch.total() < settings.items and time.monotonic() < deadline:
        time.sleep(0.05)
    consumer.stop(graceful=True)
    return watch


def parse() -> Settings:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=50_000)
    parser.add_argument(
        "--worker-type", choices=["thread", "process", "greenlet"], default="thread"
    )
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--storage", choices=["sqlite3", "cysqlite"], default="sqlite3")
    parser.add_argument("--fsync", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--cache-mb", type=int, default=64)
    parser.add_argument("--folder", type=Path, required=True)
    return Settings(**vars(parser.parse_args()))


def main() -> int:
    settings = parse()
    fill_seconds = fill(settings)
    watch = drain(settings)
    queue = open_queue(settings, fsync=True)
    stored = queue.storage.result_store_size()
    if stored != settings.items:
        print(f"huey stored {stored} results of {settings.items}", file=sys.stderr)
        return 1
    seconds = watch.seconds()
    report = {
        "items": settings.items,
        "seconds": seconds,
        "items_per_s": settings.items / seconds,
        "fill_seconds": fill_seconds,
        "version": huey_package.__version__,
        "synchronous": "FULL" if settings.fsync else "OFF",
    }
    print(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
