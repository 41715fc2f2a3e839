"""How fast no-op items get done on PostgreSQL, against a peer with as many processes."""

from __future__ import annotations

from benchmarks.harness import Figure
from benchmarks.ours import POSTGRES, POSTGRES_TWO
from benchmarks.ratios import ratio
from benchmarks.theirs import PGQUEUER_ONE, PGQUEUER_TWO

FIGURES = (
    Figure(
        name="drain-postgres-one",
        title="drain rate on PostgreSQL ÷ pgqueuer, 1 process each",
        contenders=(POSTGRES, PGQUEUER_ONE),
        value=ratio(POSTGRES, PGQUEUER_ONE, "items_per_s"),
        must=1.8,
        aim=3,
    ),
    Figure(
        name="drain-postgres-two",
        title="drain rate on PostgreSQL ÷ pgqueuer, 2 processes each",
        contenders=(POSTGRES_TWO, PGQUEUER_TWO),
        value=ratio(POSTGRES_TWO, PGQUEUER_TWO, "items_per_s"),
        must=1.2,
        aim=1.7,
    ),
)
