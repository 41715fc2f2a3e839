"""`trace`: one run, to look at."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.pacing.catalogue import IN_SAMPLE
from benchmarks.pacing.chart import write_svg
from benchmarks.pacing.course import follow, write_csv
from benchmarks.pacing.draws import SEED, draw
from benchmarks.pacing.experiments.robustness import SCENARIOS
from benchmarks.pacing.rules import ALL
from benchmarks.pacing.scenario import Scenario

NAMED = {scenario.name: scenario for scenario in (*IN_SAMPLE, *SCENARIOS)}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which run, and where its course goes."""
    parser.add_argument("provider", help="a name from insample or robustness, or DRAW/NUMBER")
    parser.add_argument("--rule", choices=ALL, default=next(reversed(ALL)))
    parser.add_argument("--seed", type=int, default=1, help="of a named provider")
    parser.add_argument("--csv", type=Path, metavar="FILE")
    parser.add_argument("--svg", type=Path, metavar="FILE")


def run(options: argparse.Namespace) -> int:
    """Follow one run; the table of seconds goes to the screen unless a file is named."""
    try:
        scenario, seed = find(options.provider, options.seed)
    except LookupError as error:
        print(error, file=sys.stderr)
        return 2
    steps = follow(scenario, ALL[options.rule].make(), seed)
    if options.svg:
        write_svg(options.svg, f"{scenario.name}, {options.rule}", steps)
    if options.csv or not options.svg:
        write_csv(options.csv or Path("/dev/stdout"), steps)
    return 0


def find(name: str, seed: int) -> tuple[Scenario, int]:
    """A named provider, or one of a draw, which brings its own seed."""
    number, slash, index = name.partition("/")
    if slash and number.isdecimal() and index.isdecimal():
        return draw(int(number))[int(index)], SEED + int(index)
    if name not in NAMED:
        raise LookupError(f"no provider {name!r}; there are: {', '.join(NAMED)}")
    return NAMED[name], seed
