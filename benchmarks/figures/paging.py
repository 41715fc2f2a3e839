"""Whether the last page of a million items comes as fast as the first, in the slower order."""

from __future__ import annotations

from benchmarks.harness import Contender, Figure
from benchmarks.measurement import Round
from benchmarks.ours import POSTGRES_LARGE, SQLITE_LARGE


def figure(name: str, title: str, contender: Contender) -> Figure:
    def worst(one: Round) -> float:
        values = one.values[contender.name]
        return max(values["page_ratio_input"], values["page_ratio_updated"])

    return Figure(
        name=name,
        title=title,
        contenders=(contender,),
        value=worst,
        must=1.5,
        aim=1.1,
        at_most=True,
    )


FIGURES = (
    figure("paging-sqlite", "deepest page ÷ first page on SQLite", SQLITE_LARGE),
    figure("paging-postgres", "deepest page ÷ first page on PostgreSQL", POSTGRES_LARGE),
)
