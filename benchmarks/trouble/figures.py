"""Good rows of a provider in trouble: how fast they come home beside a run without the bad ones."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from benchmarks import command
from benchmarks.harness import Bench, Contender, Figure
from benchmarks.measurement import FailedError, Round, Values
from benchmarks.scripts import ROOT
from benchmarks.trouble.server import LOOPBACK, Terms

LANES = 32
DEAD_AFTER_S = 4.0


def terms(bench: Bench, share: float, *, dead: bool) -> Terms:
    rows = bench.sizes.troubled
    return Terms(rows, share, dead_after_s=DEAD_AFTER_S, dead_s=bench.sizes.dead_s if dead else 0.0)


@contextmanager
def serving(told: Terms) -> Iterator[str]:
    words = [sys.executable, "-m", "benchmarks.trouble.server", json.dumps(asdict(told))]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://{LOOPBACK}:{process.stdout.readline().strip()}"
        process.kill()


def run(share: float, *, dead: bool, oracle: bool) -> Callable[[Bench], Values]:
    """One run of the command; the oracle is only given rows that can be answered."""

    def measure(bench: Bench) -> Values:
        told = terms(bench, share, dead=dead)
        bad = told.bad()
        with bench.scratch() as folder, serving(told) as url:
            rows = [row for row in range(told.rows) if not (oracle and row in bad)]
            source = write_rows(folder / "rows.csv", url, rows)
            job = command.Run("ask", source, str(folder / "headgate.db"), LANES)
            patience = {"HEADGATE_RETRY__BACKOFF_BASE_S": str(bench.sizes.backoff_s)}
            totals = command.execute(job.command(), folder, {0, 3}, patience).totals
            with urllib.request.urlopen(f"{url}/report") as answer:  # noqa: S310 -- our own
                report = json.load(answer)
        if totals["done"] != told.rows - len(bad):
            raise FailedError(f"{totals['done']} rows are done, not {told.rows - len(bad)}")
        return {"seconds_to_95": report["seconds_to_95"], "requests": report["requests"]}

    return measure


def write_rows(path: Path, url: str, rows: list[int]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["url"])
        writer.writerows([f"{url}/row/{row}"] for row in rows)
    return path


def figure(share: float, *, dead: bool) -> Figure:
    what = f"{share:.0%} bad rows" + (", dead for a while" if dead else "")
    ours = Contender(f"headgate, {what}", run(share, dead=dead, oracle=False))
    ideal = Contender(f"good rows alone, {what}", run(share, dead=dead, oracle=True))

    def value(done: Round) -> float:
        mine, best = (done.values[each.name]["seconds_to_95"] for each in (ours, ideal))
        return best / mine

    name = f"trouble-{round(share * 100)}" + ("-dead" if dead else "")
    title = f"good rows with {what} ÷ good rows alone, until 95 % are settled"
    return Figure(name, title, (ours, ideal), value, must=0.9, aim=0.95)


FIGURES = tuple(figure(share, dead=dead) for dead in (False, True) for share in (0.01, 0.03, 0.1))
