"""What the engine adds to items that only wait: 20 ms each, 50 at a time."""

from __future__ import annotations

from benchmarks.harness import Contender, Figure
from benchmarks.ours import POSTGRES_WAITING, SQLITE_WAITING
from benchmarks.ratios import share


def figure(name: str, title: str, contender: Contender) -> Figure:
    return Figure(
        name=name,
        title=title,
        contenders=(contender,),
        value=share(contender, "ideal_seconds", "drain_seconds"),
        must=0.92,
        aim=0.98,
    )


FIGURES = (
    figure("waiting-sqlite", "waiting items on SQLite: ideal time ÷ time", SQLITE_WAITING),
    figure("waiting-postgres", "waiting items on PostgreSQL: ideal ÷ time", POSTGRES_WAITING),
)
