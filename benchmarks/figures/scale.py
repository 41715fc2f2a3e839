"""Whether twenty times the items drain as fast: the claim must not slow down as the table grows."""

from __future__ import annotations

from benchmarks.harness import Contender, Figure
from benchmarks.ours import POSTGRES, POSTGRES_LARGE, SQLITE, SQLITE_LARGE
from benchmarks.ratios import ratio


def figure(name: str, title: str, large: Contender, normal: Contender) -> Figure:
    return Figure(
        name=name,
        title=title,
        contenders=(large, normal),
        value=ratio(large, normal, "items_per_s"),
        must=0.8,
        aim=1.0,
    )


FIGURES = (
    figure("scale-sqlite", "drain rate on SQLite, many items ÷ normal", SQLITE_LARGE, SQLITE),
    figure(
        "scale-postgres",
        "drain rate on PostgreSQL, many items ÷ normal",
        POSTGRES_LARGE,
        POSTGRES,
    ),
)
