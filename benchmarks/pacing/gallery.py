"""`gallery`: the pictures of the page "How Headgate finds the limit", each from a run."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.pacing.catalogue import named
from benchmarks.pacing.chart import write_svg
from benchmarks.pacing.course import STEP_S, Step, Watch, follow, step
from benchmarks.pacing.dispatcher import Dispatcher
from benchmarks.pacing.events import Events
from benchmarks.pacing.experiments.shared import PROCESSES, by_ledger
from benchmarks.pacing.log import Log
from benchmarks.pacing.provider import Provider
from benchmarks.pacing.rules import OURS
from benchmarks.pacing.rules.rule import Rule
from benchmarks.pacing.scenario import Scenario
from benchmarks.pacing.stages import write_stages

SEED = 1
FOLDER = Path("docs/explanation/figures")
PAGE = "finding-the-limit.md"
MARKED = re.compile(r"(<!-- begin runs -->\n).*?(<!-- end runs -->)", re.DOTALL)
HEAD = ("| run | answered | of the limit | refused | closed |", "|---|---|---|---|---|")


@dataclass(frozen=True)
class Picture:
    """One run, and under which name and title it is shown."""

    file: str
    title: str
    scenario: str
    seconds: float
    run: Callable[[Scenario], list[Step]] = lambda scenario: follow(scenario, OURS.make(), SEED)


class Together(Rule):
    """The rules of several processes, looked at as if they were one."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules

    def rate(self, now: float) -> float:
        return sum(rule.rate(now) or 0.0 for rule in self._rules)

    def closed(self, now: float) -> bool:
        return all(rule.closed(now) for rule in self._rules)


def follow_fleet(scenario: Scenario) -> list[Step]:
    """Four processes that meet in a store, followed as one."""
    events = Events()
    provider = Provider(scenario, SEED, events)
    rules = by_ledger(events, PROCESSES)
    dispatchers = [
        Dispatcher(events, provider, rule, 10 * SEED + number) for number, rule in enumerate(rules)
    ]
    watch = Watch(events, provider, Together(rules), scenario.seconds)
    for dispatcher in dispatchers:
        dispatcher.start(scenario.workers // PROCESSES)
    events.run(scenario.seconds)
    log = Log(
        sent=sorted(at for each in dispatchers for at in each.log.sent),
        answered=sorted(at for each in dispatchers for at in each.log.answered),
        refused=sorted(at for each in dispatchers for at in each.log.refused),
    )
    return [step(number, log, watch) for number in range(int(scenario.seconds / STEP_S))]


PICTURES = (
    Picture("bucket", "A token bucket of 50/s, nothing told, found cold", "tb50 b50 none", 90),
    Picture("minute", "600 a minute in fixed windows, nothing told", "fw 600/min none", 600),
    Picture("cap", "At most 20 at a time, nothing told", "conc20 none", 120),
    Picture("told", "A token bucket of 50/s, told in every answer", "tb50 b50 hdr", 90),
    Picture("falls", "A limit falls to a quarter and comes back", "drop/4 none", 400),
    Picture("four", "Four processes on one bucket of 50/s", "tb50 b50 none", 90, follow_fleet),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Where the pictures go."""
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER, metavar="FOLDER")


def run(options: argparse.Namespace) -> int:
    """Draw all of them, and put their figures into the page that shows them."""
    options.folder.mkdir(parents=True, exist_ok=True)
    write_stages(options.folder / "stages.svg")
    rows = []
    for picture in PICTURES:
        (scenario,) = named(picture.scenario)
        steps = picture.run(replace(scenario, seconds=float(picture.seconds)))
        write_svg(options.folder / f"{picture.file}.svg", picture.title, steps)
        rows.append(summary(picture, steps))
        print(f"{picture.file}.svg: {rows[-1]}")
    page = options.folder.parent / PAGE
    if page.exists():
        table = "\n".join([*HEAD, *rows])
        text = page.read_text("utf-8")
        fresh = MARKED.sub(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", text)
        page.write_text(fresh, "utf-8")
    return 0


def summary(picture: Picture, steps: Sequence[Step]) -> str:
    """A row of the page's table."""
    answered = sum(each.answered * STEP_S for each in steps)
    possible = sum((each.limit or 0.0) * STEP_S for each in steps)
    refused = sum(each.refused for each in steps)
    closed_s = sum(each.closed * STEP_S for each in steps)
    return (
        f"| {picture.title}, {picture.seconds:g} s | {answered:,.0f} | {answered / possible:.0%} |"
        f" {refused} | {closed_s:.1f} s |"
    )
