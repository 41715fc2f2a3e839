"""Reports as tables for people."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from benchmarks.pacing.figure import OURS, Figure
from benchmarks.pacing.report import Report
from benchmarks.pacing.score import Score

COLOURS = {"aim reached": "green", "reached": "green", "missed": "red", "not measured": "yellow"}


def print_report(report: Report, console: Console) -> None:
    """The providers first, so that the verdicts are what one sees last."""
    shown = report.scores if report.all_providers else troubled(report.scores)
    if shown:
        console.print(provider_table(report.title, shown))
    console.print(figure_table(report))
    for note in report.notes:
        console.print(note, markup=False, soft_wrap=True)


def figure_table(report: Report) -> Table:
    names = unique(name for figure in report.figures for name in figure.values)
    table = Table(title=report.title)
    table.add_column("figure")
    for heading in (*names, "must", "aim"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for figure in report.figures:
        measured = [written(figure.values.get(name), figure.unit) for name in names]
        verdict = figure.verdict
        table.add_row(figure.title, *measured, *bounds(figure), verdict, style=COLOURS.get(verdict))
    return table


def written(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    if math.isinf(value):
        return "never"
    digits = 2 if abs(value) < 10 and not float(value).is_integer() else 1
    text = f"{value:.0f}" if float(value).is_integer() else f"{value:.{digits}f}"
    return f"{text} {unit}".strip()


def bounds(figure: Figure) -> tuple[str, str]:
    if figure.bound is None:
        return "", ""
    bound = figure.bound
    return f"{bound.sign} {bound.must:g} {figure.unit}".strip(), f"{bound.aim:g}"


def provider_table(title: str, scores: Sequence[Score]) -> Table:
    """Goodput and refused in percent for each provider and rule, with bans over all seeds."""
    names = unique(score.contender for score in scores)
    table = Table(title=f"{title}: goodput / refused, in %; bN: bans; *: not clean")
    table.add_column("provider")
    for name in names:
        table.add_column(name, justify="right")
    for provider in unique(score.provider for score in scores):
        row = [score for score in scores if score.provider == provider]
        table.add_row(provider, *(cell([s for s in row if s.contender == name]) for name in names))
    return table


def cell(scores: Sequence[Score]) -> str:
    goodput = 100 * statistics.fmean(score.goodput for score in scores)
    refused = 100 * statistics.fmean(score.refused for score in scores)
    bans = sum(score.bans for score in scores)
    mark = "" if all(score.clean for score in scores) else " *"
    return f"{goodput:.0f} / {refused:.2f}{f' b{bans}' if bans else ''}{mark}"


def troubled(scores: Sequence[Score]) -> list[Score]:
    """All scores of those providers on which ours is not clean."""
    names = {score.provider for score in scores if score.contender == OURS and not score.clean}
    return [score for score in scores if score.provider in names]


def unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
