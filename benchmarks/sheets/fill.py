"""A store with one finished job in it, for exports; prints one JSON line."""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
from pathlib import Path

from benchmarks.sheets.rows import INPUTS, RESULTS, inputs, results
from headgate.core.item import NewItem
from headgate.core.job import NewJob
from headgate.ports.items import EnqueueRequest
from headgate.stores.sqlite import SqliteStore

BATCH = 5_000


async def enqueue(path: Path, items: int) -> int:
    async with SqliteStore(path) as store:
        job = await store.jobs.create_job(NewJob("bench", "rows"))
        for start in range(0, items, BATCH):
            numbers = range(start, min(start + BATCH, items))
            batch = [NewItem(str(n), json.dumps(inputs(n)), n + 2) for n in numbers]
            await store.items.enqueue_many(EnqueueRequest(job.id, batch))
        await store.jobs.complete_ingest(job.id, INPUTS)
        return job.id


def finish(path: Path, job: int) -> None:
    """End all items at once; working on them is not what is measured here."""
    connection = sqlite3.connect(path)
    connection.create_function("answer", 1, lambda line: json.dumps(results(line - 2)))
    done = "UPDATE items SET status = 'DONE', result = answer(line) WHERE job_id = ?"
    connection.execute(done, (job,))
    connection.execute("UPDATE job_counts SET status = 'DONE' WHERE job_id = ?", (job,))
    names = [(job, place, name) for place, name in enumerate(RESULTS)]
    connection.executemany("INSERT INTO job_columns VALUES (?, ?, ?)", names)
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", type=Path, required=True)
    parser.add_argument("--items", type=int, required=True)
    options = parser.parse_args()
    job = asyncio.run(enqueue(options.db, options.items))
    finish(options.db, job)
    print(json.dumps({"job": job}))


if __name__ == "__main__":
    main()
