"""The raw limit of a queue on SQLite: claim and acknowledge in thousands, one index, no engine."""

from __future__ import annotations

import argparse
import json
import sqlite3
import time
from pathlib import Path

from benchmarks.workload import RESULT, rows

BATCH = 1_000
SCHEMA = """
CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    job_id INTEGER NOT NULL,
    status TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    input TEXT NOT NULL,
    result TEXT
);
CREATE INDEX items_by_status ON items (job_id, status, updated_at, id);
"""
FILL = "INSERT INTO items (job_id, status, updated_at, input) VALUES (1, 'PENDING', 0, ?)"
CLAIM = """
UPDATE items SET status = 'PROCESSING', updated_at = ?
WHERE id IN (
    SELECT id FROM items WHERE job_id = 1 AND status = 'PENDING' ORDER BY updated_at, id LIMIT ?
)
RETURNING id, input
"""
ACKNOWLEDGE = "UPDATE items SET status = 'DONE', updated_at = ?, result = ? WHERE id = ?"
UNFINISHED = "SELECT count(*) FROM items WHERE status <> 'DONE' OR result IS NULL"


def fill(connection: sqlite3.Connection, items: int) -> None:
    connection.execute("BEGIN")
    connection.executemany(FILL, ((json.dumps(row),) for row in rows(items)))
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def drain(connection: sqlite3.Connection) -> float:
    result = json.dumps(RESULT)
    started = time.perf_counter()
    while True:
        now = time.monotonic_ns() // 1_000
        connection.execute("BEGIN IMMEDIATE")
        claimed = connection.execute(CLAIM, (now, BATCH)).fetchall()
        connection.execute("COMMIT")
        if not claimed:
            return time.perf_counter() - started
        now = time.monotonic_ns() // 1_000
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(ACKNOWLEDGE, ((now, result, number) for number, _ in claimed))
        connection.execute("COMMIT")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=50_000)
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    connection = sqlite3.connect(options.folder / "raw.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.executescript(SCHEMA)
    fill(connection, options.items)
    seconds = drain(connection)
    assert connection.execute(UNFINISHED).fetchone() == (0,)
    connection.close()
    report = {"items": options.items, "seconds": seconds, "items_per_s": options.items / seconds}
    print(json.dumps(report))


if __name__ == "__main__":
    main()
