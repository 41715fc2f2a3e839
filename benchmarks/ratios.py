"""Paired values: both sides always come from the same round."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.harness import Contender
from benchmarks.measurement import Round


def ratio(ours: Contender, theirs: Contender, value: str) -> Callable[[Round], float]:
    return lambda r: r.values[ours.name][value] / r.values[theirs.name][value]


def difference(ours: Contender, theirs: Contender, value: str) -> Callable[[Round], float]:
    return lambda r: r.values[ours.name][value] - r.values[theirs.name][value]


def share(contender: Contender, part: str, whole: str) -> Callable[[Round], float]:
    return lambda r: r.values[contender.name][part] / r.values[contender.name][whole]
