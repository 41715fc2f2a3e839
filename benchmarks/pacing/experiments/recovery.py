"""A limit falls to a quarter and comes back; so should the client, and soon."""

from __future__ import annotations

import math
from statistics import fmean

from benchmarks.pacing.catalogue import SEEDS, named
from benchmarks.pacing.figure import Bound, Figure
from benchmarks.pacing.plan import Plan
from benchmarks.pacing.report import Report
from benchmarks.pacing.rules import FIELD
from benchmarks.pacing.score import by_contender

BOUND = Bound(18, 8, at_most=True)


def run(plan: Plan) -> Report:
    """The provider that says nothing is the one that counts; the others are shown."""
    scenarios = named("drop/4 none", "drop/4 RA", "drop/4 hdr")
    scores = plan.run(scenarios, SEEDS, FIELD)
    figures = []
    for scenario in scenarios:
        rules = by_contender(each for each in scores if each.provider == scenario.name)
        rise_s = {
            name: fmean(math.inf if s.rise_s is None else s.rise_s for s in of_rule)
            for name, of_rule in rules.items()
        }
        bound = BOUND if scenario is scenarios[0] else None
        figures.append(Figure(f"{scenario.name}: recovery", rise_s, bound, "s"))
    return Report(
        name="recovery",
        title="Recovery: 50/s falls to a quarter and comes back, mean of 5 seeds",
        figures=figures,
        scores=scores,
    )
