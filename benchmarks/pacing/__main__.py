"""`python -m benchmarks.pacing`: the package's docstring says what there is."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks import pacing
from benchmarks.pacing import gallery, traced
from benchmarks.pacing.experiments import (
    draw,
    heldout,
    insample,
    recovery,
    robustness,
    shared,
    strays,
    study,
    warm,
)
from benchmarks.pacing.plan import Plan
from benchmarks.pacing.report import Report, write_json
from benchmarks.pacing.rules import ALL, FIELD
from benchmarks.pacing.tables import print_report

EXPERIMENTS: dict[str, Callable[[Plan], Report]] = {
    "study": study.run,
    "insample": insample.run,
    "heldout": heldout.run,
    "recovery": recovery.run,
    "warm": warm.run,
    "robustness": robustness.run,
    "strays": strays.run,
    "shared": shared.run,
}

DRAWN: dict[str, Callable[[argparse.Namespace], int]] = {
    "trace": traced.run,
    "gallery": gallery.run,
}


def parse(words: Sequence[str] | None = None) -> argparse.Namespace:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    common.add_argument("--json", type=Path, metavar="FILE", help="keep everything measured")
    common.add_argument("--smoke", action="store_true", help="a sliver: does it all run?")
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pacing",
        description=pacing.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in (*EXPERIMENTS, "all"):
        command = commands.add_parser(name, parents=[common])
        if name in {"heldout", "all"}:
            command.add_argument("--commit", default="", help="seed the draws with this id")
    command = commands.add_parser("draw", parents=[common])
    command.add_argument("seeds", type=int, nargs="+", metavar="SEED")
    command.add_argument("--rule", action="append", choices=ALL, default=[])
    traced.add_options(commands.add_parser("trace"))
    gallery.add_options(commands.add_parser("gallery"))
    return parser.parse_args(words)


def chosen(options: argparse.Namespace) -> list[Callable[[Plan], Report]]:
    """The experiments to run, in order."""
    if options.command == "draw":
        rules = [ALL[name] for name in options.rule] or list(FIELD)
        return [partial(draw.run, seed=seed, contenders=rules) for seed in options.seeds]
    names = list(EXPERIMENTS) if options.command == "all" else [options.command]
    experiments = dict(EXPERIMENTS)
    experiments["heldout"] = partial(heldout.run, commit=getattr(options, "commit", ""))
    return [experiments[name] for name in names]


def main(words: Sequence[str] | None = None) -> int:
    """0: every bound is reached. 1: one is missed. A smoke only has to run."""
    options = parse(words)
    if options.command in DRAWN:
        return DRAWN[options.command](options)
    console = Console(width=None if sys.stdout.isatty() else 140)
    plan = Plan(options.jobs, smoke=options.smoke)
    reports = []
    for experiment in chosen(options):
        began = time.perf_counter()
        report = experiment(plan)
        report = replace(report, took_s=time.perf_counter() - began)
        print_report(report, console)
        console.print(f"{report.name}: {report.took_s:.0f} s", style="dim", highlight=False)
        reports.append(report)
    if options.json:
        write_json(options.json, reports)
    missed = any(figure.missed for report in reports for figure in report.figures)
    return int(missed and not options.smoke)


if __name__ == "__main__":
    sys.exit(main())
