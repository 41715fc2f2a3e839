"""How fast rows come in from CSV, against rows in memory put straight into the same table."""

from __future__ import annotations

from benchmarks.harness import Figure
from benchmarks.limits import POSTGRES_COPY, SQLITE_INSERT
from benchmarks.ours import POSTGRES, SQLITE
from benchmarks.ratios import ratio

FIGURES = (
    Figure(
        name="ingest-sqlite",
        title="ingest from CSV on SQLite ÷ executemany",
        contenders=(SQLITE, SQLITE_INSERT),
        value=ratio(SQLITE, SQLITE_INSERT, "rows_per_s"),
        must=0.4,
        aim=0.7,
    ),
    Figure(
        name="ingest-postgres",
        title="ingest from CSV on PostgreSQL ÷ COPY",
        contenders=(POSTGRES, POSTGRES_COPY),
        value=ratio(POSTGRES, POSTGRES_COPY, "rows_per_s"),
        must=0.4,
        aim=0.7,
    ),
)
