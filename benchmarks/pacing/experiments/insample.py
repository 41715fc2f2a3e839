"""The providers that rules were designed on: to see how, not to boast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from benchmarks.pacing.catalogue import IN_SAMPLE, SEEDS
from benchmarks.pacing.figure import Figure
from benchmarks.pacing.manners import FIELDS
from benchmarks.pacing.plan import Plan
from benchmarks.pacing.report import Report
from benchmarks.pacing.rules import FIELD
from benchmarks.pacing.score import Score, by_contender


def run(plan: Plan) -> Report:
    """All 25, each with five seeds; providers that declare their limit are listed apart."""
    scores = plan.run(IN_SAMPLE, SEEDS, FIELD)
    telling = {each.name for each in IN_SAMPLE if each.manners is FIELDS}
    told = [each for each in scores if each.provider in telling]
    untold = [each for each in scores if each.provider not in telling]
    return Report(
        name="insample",
        title="In-sample: 25 providers, mean of 5 seeds",
        figures=[*figures("limit not told", untold), *figures("limit told", told)],
        scores=[*untold, *told],
    )


def figures(title: str, scores: Sequence[Score]) -> list[Figure]:
    rules = by_contender(scores)
    runs = max(map(len, rules.values()), default=0)

    def each(value: Callable[[Sequence[Score]], float]) -> dict[str, float]:
        return {name: value(of_rule) for name, of_rule in rules.items()}

    return [
        Figure(f"{title}: clean of {runs} runs", each(lambda of: sum(s.clean for s in of))),
        Figure(
            f"{title}: goodput, mean", each(lambda of: 100 * fmean(s.goodput for s in of)), unit="%"
        ),
        Figure(
            f"{title}: refused, mean", each(lambda of: 100 * fmean(s.refused for s in of)), unit="%"
        ),
        Figure(f"{title}: bans", each(lambda of: sum(s.bans for s in of))),
    ]
