"""Good rows of a provider in trouble: how fast they come home beside a run without the bad ones."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import command
from benchmarks.harness import Bench, Contender, Figure
from benchmarks.measurement import FailedError, Round, Values
from benchmarks.scripts import ROOT
from benchmarks.trouble.server import Terms
from tests.kit.ports import LOOPBACK

LANES = 32
DEAD_AFTER_S = 4.0
PATIENCE = 90


@dataclass(frozen=True)
class Trouble:
    """What is wrong with a provider, without the sizes."""

    share: float
    dead: bool = False
    together: bool = False

    @property
    def name(self) -> str:
        how = "-together" * self.together + "-dead" * self.dead
        return f"trouble-{round(self.share * 100)}{how}"

    @property
    def words(self) -> str:
        how = " side by side" * self.together + ", dead for a while" * self.dead
        return f"{self.share:.0%} bad rows{how}"

    def terms(self, bench: Bench) -> Terms:
        dead_s = bench.sizes.dead_s if self.dead else 0.0
        return Terms(
            bench.sizes.troubled,
            self.share,
            self.together,
            dead_after_s=DEAD_AFTER_S,
            dead_s=dead_s,
        )


@contextmanager
def serving(told: Terms) -> Iterator[str]:
    words = [sys.executable, "-m", "benchmarks.trouble.server", json.dumps(asdict(told))]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://{LOOPBACK}:{process.stdout.readline().strip()}"
        finally:
            process.kill()


def report_of(url: str) -> dict[str, float]:
    """What the server has seen; a short job may be over while the server is still dead."""
    for _ in range(PATIENCE):
        try:
            with urllib.request.urlopen(f"{url}/report") as answer:  # noqa: S310 -- our own
                return dict(json.load(answer))
        except OSError:
            time.sleep(1.0)
    raise FailedError("the server did not come back")


def run(trouble: Trouble, *, oracle: bool) -> Callable[[Bench], Values]:
    """One run of the command; the oracle is only given rows that can be answered."""

    def measure(bench: Bench) -> Values:
        told = trouble.terms(bench)
        bad = told.bad()
        with bench.scratch() as folder, serving(told) as url:
            rows = [row for row in range(told.rows) if not (oracle and row in bad)]
            source = write_rows(folder / "rows.csv", url, rows)
            job = command.Run("ask", source, str(folder / "headgate.db"), LANES)
            patience = {"HEADGATE_RETRY__BACKOFF_BASE_S": str(bench.sizes.backoff_s)}
            totals = command.execute(job.command(), folder, {0, 3}, patience).totals
            report = report_of(url)
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


def figure(trouble: Trouble) -> Figure:
    what = trouble.words
    ours = Contender(f"headgate, {what}", run(trouble, oracle=False))
    ideal = Contender(f"good rows alone, {what}", run(trouble, oracle=True))

    def value(done: Round) -> float:
        mine, best = (done.values[each.name]["seconds_to_95"] for each in (ours, ideal))
        return best / mine

    title = f"good rows with {what} ÷ good rows alone, until 95 % are settled"
    return Figure(trouble.name, title, (ours, ideal), value, must=0.9, aim=0.95)


SHARES = (0.01, 0.03, 0.1)
CASES = (
    *(Trouble(share) for share in SHARES),
    *(Trouble(share, together=True) for share in SHARES[1:]),
    *(Trouble(share, dead=True) for share in SHARES),
)
FIGURES = tuple(map(figure, CASES))
