"""The results as a table for people, and as a document to keep."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.limiters.contender import OURS
from benchmarks.limiters.race import Result, Terms
from benchmarks.limiters.score import Score
from benchmarks.report import machine, revision


def print_results(results: Sequence[Result], console: Console) -> None:
    """A line for each limiter and number of processes, a column for each contender."""
    names = list(dict.fromkeys(result.entry.contender.name for result in results))
    table = Table(title="Goodput in % / refused in % (refused); *: not clean")
    table.add_column("limiter")
    for heading in ("processes", *names):
        table.add_column(heading, justify="right")
    lines: dict[tuple[str, int], dict[str, str]] = {}
    for result in results:
        entry = result.entry
        found = lines.setdefault((entry.limiter.name, entry.processes), {})
        found[entry.contender.name] = cell(result)
    for (limiter, processes), found in lines.items():
        table.add_row(limiter, str(processes), *(found.get(name, "") for name in names))
    console.print(table)


def print_circumstances(terms: Terms, late_ms: Mapping[str, float], console: Console) -> None:
    """What may have come between a limiter and a contender."""
    load = os.getloadavg()[0]
    console.print(
        f"{terms.at_once} runs at a time, load {load:.1f}; this machine wakes sleepers "
        f"{late_ms['median']:g} ms late, one in a hundred {late_ms['p99']:g} ms.",
        highlight=False,
        soft_wrap=True,
    )


def cell(result: Result) -> str:
    return line(result.score) if result.score else "-"


def line(score: Score) -> str:
    mark = "" if score.clean else " *"
    failed = f", {score.failed} failed" if score.failed else ""
    shares = f"{100 * score.goodput:.1f} / {100 * score.refused_share:.2f}"
    return f"{shares} ({score.refused}{failed}){mark}"


def told(result: Result) -> str:
    """One result as it comes in."""
    return f"{result.entry.name}: {result.missing or result.failed or cell(result)}"


def misses(results: Sequence[Result]) -> list[Result]:
    """Where our own side does not do what it must, or was not measured."""
    ours = [result for result in results if result.entry.contender.name == OURS]
    return [result for result in ours if result.score is None or not result.score.clean]


def write_json(
    path: Path, results: Sequence[Result], terms: Terms, late_ms: Mapping[str, float]
) -> None:
    document = {
        "format": 1,
        "revision": revision(),
        "machine": machine(),
        "seconds": terms.seconds,
        "at_once": terms.at_once,
        "late_ms": dict(late_ms),
        "runs": [as_json(result) for result in results],
    }
    path.write_text(json.dumps(document, indent=2) + "\n")


def as_json(result: Result) -> dict[str, Any]:
    entry, score = result.entry, result.score
    about = {
        "limiter": entry.limiter.name,
        "contender": entry.contender.name,
        "processes": entry.processes,
        "missing": result.missing,
        "failed": result.failed,
    }
    if score is None:
        return about
    derived = {
        "taken": score.taken,
        "refused": score.refused,
        "goodput": score.goodput,
        "refused_share": score.refused_share,
        "clean": score.clean,
    }
    return {**about, "score": {**asdict(score), **derived}}
