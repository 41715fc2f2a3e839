"""Providers that no rule was designed on: three draws of forty, seeded by the frozen pacer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from benchmarks.pacing.draws import SEED, draw
from benchmarks.pacing.figure import Bound, Figure
from benchmarks.pacing.frozen import frozen_commit, is_frozen, seeds
from benchmarks.pacing.manners import FIELDS
from benchmarks.pacing.plan import Plan
from benchmarks.pacing.report import Report
from benchmarks.pacing.rules import FIELD
from benchmarks.pacing.score import Score, Summary, by_contender, summarise

Draws = Sequence[Sequence[Score]]


def run(plan: Plan, commit: str = "") -> Report:
    """The means over the three draws, as the bounds are meant."""
    commit = commit or frozen_commit()
    drawn = [draw(seed) for seed in seeds(commit)]
    scores = [plan.run_draw(providers, SEED, FIELD) for providers in drawn]
    told = {each.name for providers in drawn for each in providers if each.manners is FIELDS}
    return Report(
        name="heldout",
        title=f"Held out: 3 draws of 40 providers, seeded by {commit[:24]}",
        figures=[*over_draws(scores), *when_told([s for d in scores for s in d], told)],
        scores=[score for draw_scores in scores for score in draw_scores],
        all_providers=False,
        notes=notes(commit, scores),
    )


def over_draws(draws: Draws) -> list[Figure]:
    summaries: dict[str, list[Summary]] = {}
    for scores in draws:
        for name, of_rule in by_contender(scores).items():
            summaries.setdefault(name, []).append(summarise(of_rule))

    def mean(value: Callable[[Summary], float]) -> dict[str, float]:
        return {name: fmean(map(value, each)) for name, each in summaries.items()}

    return [
        Figure("clean of 40", mean(lambda s: s.clean), Bound(31, 37)),
        Figure("goodput, median", mean(lambda s: s.goodput), Bound(96, 98), "%"),
        Figure("goodput, 10th percentile", mean(lambda s: s.goodput_low), Bound(85, 93), "%"),
        Figure("goodput, worst", mean(lambda s: s.goodput_worst), unit="%"),
        Figure("refused, median", mean(lambda s: s.refused), at_most(0.3, 0.1), "%"),
        Figure("refused, 90th percentile", mean(lambda s: s.refused_high), at_most(1.1, 0.5), "%"),
        Figure("refused, worst", mean(lambda s: s.refused_worst), unit="%"),
        Figure("bans a draw", mean(lambda s: s.bans), at_most(2, 0)),
    ]


def when_told(scores: Sequence[Score], telling: set[str]) -> list[Figure]:
    """The providers that tell their limit in headers, of all draws together."""
    rules = by_contender(score for score in scores if score.provider in telling)
    if not rules:
        return []
    mean = {name: 100 * fmean(s.goodput for s in each) for name, each in rules.items()}
    worst = {name: 100 * min(s.goodput for s in each) for name, each in rules.items()}
    refused = {
        name: 100 * sum(s.refusals for s in each) / sum(s.sent for s in each)
        for name, each in rules.items()
    }
    return [
        Figure("headers given: goodput, mean", mean, Bound(98, 99), "%"),
        Figure("headers given: goodput, worst", worst, unit="%"),
        Figure("headers given: refused", refused, at_most(0, 0), "%"),
    ]


def at_most(must: float, aim: float) -> Bound:
    return Bound(must, aim, at_most=True)


def notes(commit: str, draws: Draws) -> list[str]:
    """Each draw by itself, and a warning if the pacer was not frozen."""
    lines = [] if is_frozen() else ["The pacer has uncommitted changes: this is not held out."]
    for seed, scores in zip(seeds(commit), draws, strict=True):
        for name, of_rule in by_contender(scores).items():
            lines.append(f"draw {seed}, {name}: {in_words(summarise(of_rule))}")
    return lines


def in_words(summary: Summary) -> str:
    return (
        f"{summary.clean} clean, goodput {summary.goodput:.1f} / {summary.goodput_low:.1f} %, "
        f"refused {summary.refused:.2f} / {summary.refused_high:.2f} %, {summary.bans} bans"
    )
