"""One draw of forty providers, one by one: to look at, and no longer held out from then on."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.pacing.draws import SEED, draw
from benchmarks.pacing.experiments.heldout import in_words, over_draws
from benchmarks.pacing.plan import Plan
from benchmarks.pacing.report import Report
from benchmarks.pacing.rules import Contender
from benchmarks.pacing.score import by_contender, summarise


def run(plan: Plan, seed: int, contenders: Sequence[Contender]) -> Report:
    """All providers, the worst of the last contender first."""
    scores = plan.run_draw(draw(seed), SEED, contenders)
    last = contenders[-1].name
    worst_first = {each.seed: each.goodput for each in scores if each.contender == last}
    return Report(
        name=f"draw {seed}",
        title=f"Draw {seed}: 40 providers",
        figures=over_draws([scores]),
        scores=sorted(scores, key=lambda each: worst_first[each.seed]),
        notes=[f"{name}: {in_words(summarise(s))}" for name, s in by_contender(scores).items()],
    )
