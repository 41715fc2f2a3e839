"""The raw limit of ingest on SQLite: executemany into our own table with all its indexes."""

from __future__ import annotations

import argparse
import json
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.raw.schema import Column, chosen, migrations, prepared

BATCH = 5_000


def columns(connection: sqlite3.Connection) -> list[Column]:
    found = connection.execute("PRAGMA table_info(items)").fetchall()
    return [Column(name, bool(must and default is None)) for _, name, _, must, default, _ in found]


def insert(
    connection: sqlite3.Connection, names: Sequence[str], rows: Sequence[tuple[object, ...]]
) -> float:
    places = ", ".join("?" * len(names))
    statement = f"INSERT INTO items ({', '.join(names)}) VALUES ({places})"
    started = time.perf_counter()
    for start in range(0, len(rows), BATCH):
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(statement, rows[start : start + BATCH])
        connection.execute("COMMIT")
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=50_000)
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    connection = sqlite3.connect(options.folder / "raw.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    for script in migrations("sqlite"):
        connection.executescript(script)
    connection.execute("PRAGMA foreign_keys = OFF")  # the rows' job is not made here
    names = chosen(columns(connection))
    seconds = insert(connection, names, prepared(options.items, names))
    assert connection.execute("SELECT count(*) FROM items").fetchone() == (options.items,)
    connection.close()
    report = {"items": options.items, "seconds": seconds, "rows_per_s": options.items / seconds}
    print(json.dumps(report))


if __name__ == "__main__":
    main()
