"""Whether this simulator agrees with the study whose facts it was built from."""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.pacing.draws import SEED, draw
from benchmarks.pacing.figure import Bound, Figure
from benchmarks.pacing.plan import Plan
from benchmarks.pacing.report import Report
from benchmarks.pacing.rules import KNOWN
from benchmarks.pacing.score import Summary, summarise

DRAW = 777
GOODPUT_POINTS = 2.0
REFUSED_POINTS = 0.3


class Published(NamedTuple):
    """A rule's line in the study's table of draw 777, in percent."""

    goodput: float
    goodput_low: float
    goodput_worst: float
    refused: float
    refused_high: float
    refused_worst: float
    bans: int
    strictly_clean: int


PUBLISHED = {
    "tenacity": Published(100.6, 12.2, 3.4, 36.67, 75.63, 96.57, 237, 0),
    "crawlee": Published(83.9, 1.9, 0.3, 16.53, 84.38, 97.66, 191, 3),
    "scrapy": Published(88.0, 25.5, 6.0, 32.92, 93.57, 98.03, 112, 0),
    "botocore": Published(100.0, 62.8, 28.4, 2.14, 22.01, 44.19, 80, 3),
    "vegas": Published(92.6, 27.3, 13.1, 14.15, 73.91, 93.12, 118, 1),
    "sawtooth": Published(81.5, 63.7, 31.4, 3.44, 26.72, 53.20, 61, 0),
    "reference": Published(96.8, 90.1, 66.4, 0.17, 0.98, 5.97, 0, 33),
}
TITLES = {
    "goodput": "goodput, median",
    "goodput_low": "goodput, 10th percentile",
    "goodput_worst": "goodput, worst",
    "refused": "refused, median",
    "refused_high": "refused, 90th percentile",
    "refused_worst": "refused, worst",
    "bans": "bans",
    "strictly_clean": "clean of 40, nothing forgiven",
}


def run(plan: Plan) -> Report:
    """Draw 777 with every known rule, beside what was published."""
    scores = plan.run_draw(draw(DRAW), SEED, KNOWN)
    figures = []
    for contender in KNOWN:
        summary = summarise([each for each in scores if each.contender == contender.name])
        figures += compared(contender.name, summary)
    return Report(
        name="study",
        title=f"Draw {DRAW}: this simulator beside the study",
        figures=figures,
        notes=["Bounds are on the points by which the two are apart."],
    )


def compared(rule: str, summary: Summary) -> list[Figure]:
    """Each value here and there; the bound is on their difference."""
    figures = []
    for field, title in TITLES.items():
        here, there = getattr(summary, field), getattr(PUBLISHED[rule], field)
        values = {"here": here, "study": there, "apart": abs(here - there)}
        figures.append(Figure(f"{rule}: {title}", values, tolerance(field), judged="apart"))
    return figures


def tolerance(field: str) -> Bound | None:
    if field.startswith("goodput"):
        return Bound(GOODPUT_POINTS, 0.05, at_most=True)
    if field.startswith("refused"):
        return Bound(REFUSED_POINTS, 0.005, at_most=True)
    return None
