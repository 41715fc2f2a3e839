"""`python -m benchmarks.trouble`: the package's docstring says what is measured."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from benchmarks import report, trouble
from benchmarks.harness import PREFIX, Bench, Sizes, judge, run_rounds
from benchmarks.postgres import Postgres
from benchmarks.trouble.figures import FIGURES


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.trouble", description=trouble.__doc__
    )
    parser.add_argument("--only", default="", metavar="NAME", help="figures whose name begins so")
    parser.add_argument("--rounds", type=int, default=1, metavar="N")
    parser.add_argument("--smoke", action="store_true", help="tiny runs: does it all run?")
    options = parser.parse_args()
    out = Console()
    figures = [figure for figure in FIGURES if figure.name.startswith(options.only)]
    with tempfile.TemporaryDirectory(prefix=PREFIX) as folder:
        sizes = Sizes.smoke() if options.smoke else Sizes()
        bench = Bench(sizes, Path(folder), Postgres())
        done = run_rounds(bench, figures, options.rounds, out.print)
    outcomes = judge(figures, done)
    report.print_contenders(done, out)
    report.print_figures(outcomes, out)
    failed = any(one.failed for one in done)
    if options.smoke:
        return int(failed)
    return int(failed or any(each.verdict in {"missed", "not measured"} for each in outcomes))


if __name__ == "__main__":
    sys.exit(main())
