"""How fast no-op items get done on SQLite, against a peer and against the bare database."""

from __future__ import annotations

from benchmarks.harness import Figure
from benchmarks.limits import SQLITE_CLAIM
from benchmarks.ours import SQLITE
from benchmarks.ratios import ratio
from benchmarks.theirs import HUEY_DRAIN

FIGURES = (
    Figure(
        name="drain-sqlite-huey",
        title="drain rate on SQLite ÷ huey",
        contenders=(SQLITE, HUEY_DRAIN),
        value=ratio(SQLITE, HUEY_DRAIN, "items_per_s"),
        must=8,
        aim=15,
    ),
    Figure(
        name="drain-sqlite-raw",
        title="drain rate on SQLite ÷ raw limit",
        contenders=(SQLITE, SQLITE_CLAIM),
        value=ratio(SQLITE, SQLITE_CLAIM, "items_per_s"),
        must=0.25,
        aim=0.4,
    ),
)
