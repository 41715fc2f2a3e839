"""A bare loop: pages of a Datasette by ranges of ids, hashed and upserted into SQLite, durably.

It knows the range of every page beforehand, waits for no limit, and proves nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import aiohttp
import msgspec

SCHEMA = (
    "CREATE TABLE copied (id TEXT PRIMARY KEY, hash TEXT NOT NULL, body TEXT NOT NULL,"
    " seen_at INTEGER NOT NULL) WITHOUT ROWID"
)
UPSERT = """
INSERT INTO copied SELECT value ->> 0, value ->> 1, value -> 2, ?1 FROM json_each(?2) WHERE true
ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, hash = excluded.hash,
body = CASE WHEN hash = excluded.hash THEN body ELSE excluded.body END
"""


class Page(msgspec.Struct):
    rows: list[msgspec.Raw]


class Id(msgspec.Struct):
    id: int


def opened(path: Path) -> sqlite3.Connection:
    store = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    store.execute("PRAGMA journal_mode = wal")
    store.execute("PRAGMA synchronous = full")
    store.execute(SCHEMA)
    return store


def upsert(store: sqlite3.Connection, page: Page) -> None:
    rows = []
    for body in page.rows:
        digest = hashlib.blake2b(body, digest_size=16).hexdigest()
        rows.append((msgspec.json.decode(body, type=Id).id, digest, body))
    store.execute(UPSERT, (time.time_ns(), msgspec.json.encode(rows).decode()))


async def copy(url: str, ranges: Iterator[tuple[int, int]], store: sqlite3.Connection) -> int:
    """One lane; returns the number of rows."""
    count = 0
    loop = asyncio.get_running_loop()
    async with aiohttp.ClientSession() as client:
        for low, high in ranges:
            async with client.get(f"{url}&id__gt={low}&id__lte={high}") as reply:
                page = msgspec.json.decode(await reply.read(), type=Page)
            await loop.run_in_executor(WRITER, upsert, store, page)
            count += len(page.rows)
    return count


WRITER = ThreadPoolExecutor(1)


async def run(options: argparse.Namespace) -> dict[str, float]:
    store = opened(options.database)
    ranges = ((low, low + options.page) for low in range(0, options.rows, options.page))
    started = time.perf_counter()
    lanes = (copy(options.url, ranges, store) for _ in range(options.lanes))
    count = sum(await asyncio.gather(*lanes))
    seconds = time.perf_counter() - started
    store.close()
    return {"rows": count, "seconds": seconds, "rows_per_s": count / seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--database", type=Path, required=True)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--page", type=int, required=True)
    parser.add_argument("--lanes", type=int, required=True)
    print(json.dumps(asyncio.run(run(parser.parse_args()))))


if __name__ == "__main__":
    main()
