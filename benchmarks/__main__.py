"""`python -m benchmarks`: measure the figures, print the table, keep the JSON."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from benchmarks import environment, report, tuning
from benchmarks.figures import FIGURES
from benchmarks.harness import PREFIX, Bench, Figure, Sizes, judge, run_rounds
from benchmarks.measurement import FailedError
from benchmarks.postgres import Postgres

ROUNDS = 5


def parse(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="figures whose name begins so; may be given several times",
    )
    parser.add_argument("--rounds", type=int, metavar="N", help=f"default {ROUNDS}")
    parser.add_argument("--items", type=int, metavar="N", help="items in the drain figures")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result document here")
    parser.add_argument("--smoke", action="store_true", help="one tiny round: does it all run?")
    parser.add_argument("--tune", choices=sorted(tuning.PEERS), help="find a peer's best settings")
    parser.add_argument("--list", action="store_true", help="print the names of the figures")
    options = parser.parse_args(words)
    options.figures = choose(options.only, parser)
    return options


def choose(prefixes: Sequence[str], parser: argparse.ArgumentParser) -> list[Figure]:
    chosen = [f for f in FIGURES if not prefixes or f.name.startswith(tuple(prefixes))]
    if not chosen:
        parser.error(f"no figure begins with {' or '.join(prefixes)}; --list names them")
    return chosen


def sizes(options: argparse.Namespace) -> Sizes:
    chosen = Sizes.smoke() if options.smoke else Sizes()
    return replace(chosen, drain=options.items) if options.items else chosen


def measure(options: argparse.Namespace, bench: Bench, out: Console, talk: Console) -> int:
    """0: all is reached. 1: a figure is missed or not measured. A smoke only has to run."""

    def say(text: str) -> None:
        talk.print(text, markup=False, highlight=False, soft_wrap=True)

    rounds = options.rounds or (1 if options.smoke else ROUNDS)
    if options.tune:
        tuning.tune(bench, options.tune, rounds, out, say)
        return 0
    done = run_rounds(bench, options.figures, rounds, say)
    outcomes = judge(options.figures, done)
    report.print_contenders(done, out)
    report.print_figures(outcomes, out)
    report.print_absent(done, out)
    if options.json:
        report.write_json(options.json, bench, outcomes, done)
    if options.smoke:
        return int(any(one.failed for one in done))
    return int(any(outcome.verdict in {"missed", "not measured"} for outcome in outcomes))


def main() -> int:
    options = parse()
    # Every program that is measured would compile all that it imports, at each of its starts.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Unwind on a polite kill too, or the database server would be left running.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(143))
    out, talk = Console(), Console(stderr=True)
    if options.list:
        for figure in options.figures:
            out.print(figure.name, highlight=False)
        return 0
    if not options.smoke:
        try:
            environment.prepare()
        except FailedError as error:
            talk.print(f"The peers are left out: {error}", markup=False)
    with tempfile.TemporaryDirectory(prefix=PREFIX) as folder, Postgres() as postgres:
        bench = Bench(sizes(options), Path(folder), postgres)
        return measure(options, bench, out, talk)


if __name__ == "__main__":
    sys.exit(main())
