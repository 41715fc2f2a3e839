"""How fast a workbook becomes the items of a job; prints one JSON line."""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from pathlib import Path

from headgate.core.job import NewJob
from headgate.engine.clock import SystemClock
from headgate.engine.ingest import Ingest, IngestPlan
from headgate.stores.sqlite import SqliteStore
from headgate.transfer.sources import open_source


async def ingest(db: Path, file: Path) -> dict[str, float]:
    async with SqliteStore(db) as store:
        job = await store.jobs.create_job(NewJob("bench", str(file)))
        started = time.perf_counter()
        report = await Ingest(store, SystemClock()).run(IngestPlan(job.id, open_source(file)))
        seconds = time.perf_counter() - started
    assert report.inserted == report.rows
    assert not report.bad
    return {"rows_per_s": report.rows / seconds, "rows": report.rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", type=Path, required=True)
    parser.add_argument("--file", type=Path, required=True)
    options = parser.parse_args()
    print(json.dumps(asyncio.run(ingest(options.db, options.file))))


if __name__ == "__main__":
    main()
