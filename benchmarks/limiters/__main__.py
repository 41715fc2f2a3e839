"""`python -m benchmarks.limiters`: the package's docstring says what is measured."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchmarks import environment, limiters
from benchmarks.limiters import report
from benchmarks.limiters.contender import CONTENDERS
from benchmarks.limiters.limiter import LIMITERS
from benchmarks.limiters.race import Entry, Result, Terms, run_all
from benchmarks.limiters.witness import Witness
from benchmarks.measurement import FailedError

SECONDS, SMOKE_S = 120.0, 2.0
PROCESSES = (1, 4)


def parse(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.limiters",
        description=limiters.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seconds", type=float, default=SECONDS, metavar="S", help="of each run")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="runs whose name contains this; may be given several times",
    )
    parser.add_argument(
        "--at-once", type=int, default=4, metavar="N", help="runs at the same time; default 4"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result document here")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep each run's store and log")
    parser.add_argument("--smoke", action="store_true", help="a moment of everything: does it run?")
    parser.add_argument("--list", action="store_true", help="print the names of the runs")
    options = parser.parse_args(words)
    options.entries = choose(options.only, parser)
    return options


def choose(parts: Sequence[str], parser: argparse.ArgumentParser) -> list[Entry]:
    entries = [
        Entry(limiter, contender, processes)
        for limiter in LIMITERS
        for processes in PROCESSES
        for contender in CONTENDERS
    ]
    chosen = [e for e in entries if not parts or any(part in e.name for part in parts)]
    if not chosen:
        parser.error(f"no run's name contains {' or '.join(parts)}; --list names them")
    return chosen


def measure(options: argparse.Namespace, out: Console, talk: Console) -> int:
    """0: our own side is clean everywhere. 1: it is not. A smoke only has to run."""

    def say(result: Result) -> None:
        talk.print(report.told(result), markup=False, highlight=False, soft_wrap=True)

    seconds = SMOKE_S if options.smoke else options.seconds
    terms = Terms(seconds, options.at_once, options.keep)
    with Witness() as witness:
        results = run_all(options.entries, terms, say)
    late_ms = witness.late_ms()
    report.print_results(results, out)
    report.print_circumstances(terms, late_ms, out)
    if options.json:
        report.write_json(options.json, results, terms, late_ms)
    if options.smoke:
        return int(any(result.failed for result in results))
    return int(bool(report.misses(results)))


def main(words: Sequence[str] | None = None) -> int:
    options = parse(words)
    out, talk = Console(width=None if sys.stdout.isatty() else 120), Console(stderr=True)
    if options.list:
        for entry in options.entries:
            out.print(entry.name, markup=False, highlight=False)
        return 0
    # Unwind on a polite kill too, or servers would be left running.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(143))
    if not options.smoke:
        try:
            environment.prepare()
        except FailedError as error:
            talk.print(f"The peers are left out: {error}", markup=False)
    return measure(options, out, talk)


if __name__ == "__main__":
    sys.exit(main())
