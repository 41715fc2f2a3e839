"""What an experiment leaves behind: figures to judge, scores to look into, a document to keep."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.pacing.figure import Figure, finite
from benchmarks.pacing.score import Score
from benchmarks.report import machine, revision


@dataclass(frozen=True)
class Report:
    """One experiment."""

    name: str
    title: str
    figures: Sequence[Figure]
    scores: Sequence[Score] = ()
    notes: Sequence[str] = ()
    all_providers: bool = True
    """Print a line for each provider; else only for those on which ours is not clean."""
    took_s: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Everything that was measured."""
        return {
            "name": self.name,
            "title": self.title,
            "figures": [figure.as_json() for figure in self.figures],
            "notes": list(self.notes),
            "took_s": round(self.took_s, 1),
            "scores": [score_as_json(score) for score in self.scores],
        }


def score_as_json(score: Score) -> dict[str, Any]:
    values = asdict(score)
    seconds = {name: finite(values[name]) for name in ("start_s", "rise_s", "latency_s")}
    return {**values, **seconds, "clean": score.clean}


def write_json(path: Path, reports: Sequence[Report]) -> None:
    document = {
        "format": 1,
        "revision": revision(),
        "machine": machine(),
        "experiments": [report.as_json() for report in reports],
    }
    path.write_text(json.dumps(document, indent=2, allow_nan=False) + "\n")
