"""What a run leaves behind: a table to read and a JSON document to keep."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sqlite3
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.download.peers import ARIA2, CURL, SCRAPY
from benchmarks.harness import Bench, Figure, Outcome
from benchmarks.measurement import Round, Spread
from benchmarks.scripts import ROOT
from benchmarks.theirs import HUEY, PGQUEUER

COLOURS = {"aim reached": "green", "reached": "green", "missed": "red", "not measured": "yellow"}


def print_figures(outcomes: Sequence[Outcome], console: Console) -> None:
    table = Table(title="Figures: median of the rounds (lowest to highest)")
    table.add_column("figure")
    for heading in ("measured", "spread", "must", "aim"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for outcome in outcomes:
        table.add_row(*cells(outcome), style=COLOURS[outcome.verdict])
    console.print(table)


def print_absent(rounds: Sequence[Round], console: Console) -> None:
    """Why a contender did not measure, once each."""
    reasons = {name: why for one in rounds for name, why in (one.missing | one.failed).items()}
    for name, why in reasons.items():
        console.print(f"{name}: {why}", style="yellow", markup=False, soft_wrap=True)


def written(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.3g}"


def cells(outcome: Outcome) -> tuple[str, ...]:
    figure, spread = outcome.figure, outcome.spread
    measured = f"{written(spread.median)} {figure.unit}".strip() if spread else "-"
    wide = f"{written(spread.low)} to {written(spread.high)}" if spread else "-"
    return (figure.title, measured, wide, *bounds(figure), outcome.verdict)


def bounds(figure: Figure) -> tuple[str, str]:
    sign = "≤" if figure.at_most else "≥"
    return (
        f"{sign} {figure.must:g} {figure.unit}".strip(),
        f"{figure.aim:g} {figure.unit}".strip(),
    )


def print_contenders(rounds: Sequence[Round], console: Console) -> None:
    table = Table(title="What each contender measured: median (lowest to highest)")
    for heading in ("contender", "value"):
        table.add_column(heading)
    for heading in ("median", "spread"):
        table.add_column(heading, justify="right")
    for (name, value), samples in series(rounds).items():
        spread = Spread.of(samples)
        wide = f"{written(spread.low)} to {written(spread.high)}"
        table.add_row(name, value, written(spread.median), wide)
    console.print(table)


def series(rounds: Sequence[Round]) -> dict[tuple[str, str], list[float]]:
    found: dict[tuple[str, str], list[float]] = {}
    for one in rounds:
        for contender, values in one.values.items():
            for name, value in values.items():
                found.setdefault((contender, name), []).append(value)
    return dict(sorted(found.items()))


def write_json(
    path: Path, bench: Bench, outcomes: Sequence[Outcome], rounds: Sequence[Round]
) -> None:
    document = {
        "format": 1,
        "revision": revision(),
        "machine": machine(),
        "sizes": asdict(bench.sizes),
        "peers": {
            "huey": HUEY,
            "pgqueuer": PGQUEUER,
            "scrapy": SCRAPY,
            "aria2": ARIA2,
            "curl": CURL,
        },
        "figures": [as_json(outcome) for outcome in outcomes],
        "rounds": [asdict(one) for one in rounds],
    }
    path.write_text(json.dumps(document, indent=2) + "\n")


def as_json(outcome: Outcome) -> dict[str, Any]:
    figure = outcome.figure
    return {
        "name": figure.name,
        "title": figure.title,
        "unit": figure.unit,
        "must": figure.must,
        "aim": figure.aim,
        "at_most": figure.at_most,
        "verdict": outcome.verdict,
        "reason": outcome.reason,
        "samples": outcome.samples,
        **(asdict(outcome.spread) if outcome.spread else {}),
    }


def machine() -> dict[str, Any]:
    return {
        "cpus": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.machine()}",
    }


def revision() -> str:
    """The commit that was measured; a figure without one cannot be repeated."""
    git = shutil.which("git")
    if git is None:
        return "unknown"
    words = [git, "describe", "--always", "--dirty", "--abbrev=12"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
