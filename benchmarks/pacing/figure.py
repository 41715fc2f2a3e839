"""A promise, what each contender makes of it, and whether ours is kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

OURS = "ours"


@dataclass(frozen=True)
class Bound:
    """What must be reached, and what is aimed at."""

    must: float
    aim: float
    at_most: bool = False

    def reaches(self, value: float, target: float) -> bool:
        """Whether a value is at least as good as the target."""
        return value <= target if self.at_most else value >= target

    def verdict(self, value: float | None) -> str:
        """In one or two words."""
        if value is None:
            return "not measured"
        if self.reaches(value, self.aim):
            return "aim reached"
        return "reached" if self.reaches(value, self.must) else "missed"

    @property
    def sign(self) -> str:
        """How the table writes it."""
        return "≤" if self.at_most else "≥"


@dataclass(frozen=True)
class Figure:
    """One line of the table. Without a bound it is only reported."""

    title: str
    values: Mapping[str, float]
    bound: Bound | None = None
    unit: str = ""
    judged: str = OURS
    """The contender that the bound holds for."""

    @property
    def verdict(self) -> str:
        """Empty for what is only reported."""
        return self.bound.verdict(self.values.get(self.judged)) if self.bound else ""

    @property
    def missed(self) -> bool:
        """Whether there is a bound that is not known to be reached."""
        return self.verdict in {"missed", "not measured"}

    def as_json(self) -> dict[str, Any]:
        """What never happened in a run is null, for JSON has no infinity."""
        return {
            "title": self.title,
            "unit": self.unit,
            "values": {name: finite(value) for name, value in self.values.items()},
            "must": self.bound.must if self.bound else None,
            "aim": self.bound.aim if self.bound else None,
            "verdict": self.verdict,
        }


def finite(value: float | None) -> float | None:
    """The value, or None for one that JSON cannot say."""
    return value if value is not None and math.isfinite(value) else None
