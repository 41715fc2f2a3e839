"""How fast a job leaves a store for a file, and how large that makes us; prints one JSON line."""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import time
from pathlib import Path

from headgate.engine.clock import SystemClock
from headgate.engine.export import Export
from headgate.stores.sqlite import SqliteStore
from headgate.transfer.sources import open_writer


async def export(db: Path, job: int, out: Path) -> dict[str, float]:
    async with SqliteStore(db) as store:
        started = time.perf_counter()
        report = await Export(store.reads, SystemClock()).run(job, open_writer(out))
        seconds = time.perf_counter() - started
    viewer = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peak_kb = sum(resource.getrusage(who).ru_maxrss for who in viewer)
    return {"rows_per_s": report.rows / seconds, "rows": report.rows, "rss_mb": peak_kb / 1024}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", type=Path, required=True)
    parser.add_argument("--job", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    print(json.dumps(asyncio.run(export(options.db, options.job, options.out))))


if __name__ == "__main__":
    main()
