"""Figures against their limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Figure:
    """Something that was measured. A smaller value is better."""

    attack: str
    what: str
    value: float
    must: float | None
    aim: float | None = None
    unit: str = ""

    @property
    def missed(self) -> bool:
        return self.must is not None and self.value > self.must


def show(figures: Sequence[Figure], out: Console) -> None:
    """A table with one line for each figure."""
    table = Table("attack", "figure", "value", "must", "aim", "verdict")
    for each in figures:
        aimed = each.aim is None or each.value <= each.aim
        verdict = "MISSED" if each.missed else "" if each.must is None else "ok" if aimed else "met"
        table.add_row(
            each.attack,
            each.what,
            _in_words(each.value, each.unit),
            "" if each.must is None else f"≤ {_in_words(each.must, each.unit)}",
            "" if each.aim is None else f"≤ {_in_words(each.aim, each.unit)}",
            verdict,
        )
    out.print(table)


def _in_words(value: float, unit: str) -> str:
    return f"{value:,.3g} {unit}".strip() if value < 1_000 else f"{value:,.0f} {unit}".strip()
