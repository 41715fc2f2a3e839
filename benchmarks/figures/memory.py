"""Constant memory: how much larger the worker grows on a hundred times the items."""

from __future__ import annotations

from benchmarks.harness import Contender, Figure
from benchmarks.ours import POSTGRES_LARGE, POSTGRES_SMALL, SQLITE_LARGE, SQLITE_SMALL
from benchmarks.ratios import difference


def figure(name: str, title: str, large: Contender, small: Contender) -> Figure:
    return Figure(
        name=name,
        title=title,
        contenders=(large, small),
        value=difference(large, small, "worker_rss_mb"),
        must=30,
        aim=5,
        at_most=True,
        unit="MB",
    )


FIGURES = (
    figure(
        "memory-sqlite",
        "worker's peak RSS on SQLite, many items minus few",
        SQLITE_LARGE,
        SQLITE_SMALL,
    ),
    figure(
        "memory-postgres",
        "worker's peak RSS on PostgreSQL, many items minus few",
        POSTGRES_LARGE,
        POSTGRES_SMALL,
    ),
)
