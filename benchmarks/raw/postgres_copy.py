"""The raw limit of ingest on PostgreSQL: COPY into our own table with all its indexes."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence

import psycopg

from benchmarks.raw.schema import Column, chosen, migrations, prepared

BATCH = 5_000
COLUMNS = """
SELECT attname, attnotnull AND NOT atthasdef AND attidentity = '' AND attgenerated = ''
FROM pg_attribute
WHERE attrelid = 'items'::regclass AND attnum > 0 AND NOT attisdropped
ORDER BY attnum
"""
Connection = psycopg.Connection[tuple[object, ...]]


def columns(connection: Connection) -> list[Column]:
    """Without `id`, which the database numbers, as it does for us."""
    found = connection.execute(COLUMNS).fetchall()
    return [Column(str(name), bool(must)) for name, must in found if name != "id"]


def copy(connection: Connection, names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> float:
    statement = f"COPY items ({', '.join(names)}) FROM STDIN"
    started = time.perf_counter()
    for start in range(0, len(rows), BATCH):
        with connection.transaction(), connection.cursor().copy(statement) as sink:
            for row in rows[start : start + BATCH]:
                sink.write_row(row)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=50_000)
    parser.add_argument("--dsn", required=True)
    options = parser.parse_args()
    with psycopg.connect(options.dsn, autocommit=True) as connection:
        for script in migrations("postgres"):
            connection.execute(script)
        # The rows' job is not made here, so the check that it exists is switched off.
        connection.execute("SET session_replication_role = replica")
        names = chosen(columns(connection))
        seconds = copy(connection, names, prepared(options.items, names))
        assert connection.execute("SELECT count(*) FROM items").fetchone() == (options.items,)
    report = {"items": options.items, "seconds": seconds, "rows_per_s": options.items / seconds}
    print(json.dumps(report))


if __name__ == "__main__":
    main()
