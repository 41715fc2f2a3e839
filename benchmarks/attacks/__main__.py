"""`python -m benchmarks.attacks`: the package's docstring says what is measured."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from rich.console import Console

from benchmarks import attacks
from benchmarks.attacks import (
    bodies,
    exports,
    half_requests,
    jobs,
    logins,
    parts,
    previews,
    sources,
    uploads,
)
from benchmarks.attacks.attack import Attack, Signals, Where
from benchmarks.attacks.prober import Probed, probe
from benchmarks.attacks.report import Figure, show
from benchmarks.attacks.target import MemoryWatch, Target, serving
from benchmarks.postgres import Postgres

FAMILIES = (bodies, half_requests, jobs, logins, parts, sources, uploads, previews, exports)
PREFIX = "headgate-attacks-"
BEGIN_S = 120.0
END_S = 90.0
RATIO, RATIO_AIM = 5.0, 2.0
MOST_S = 1.0


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.attacks", description=attacks.__doc__
    )
    parser.add_argument("--only", default="", metavar="NAME", help="attacks whose name begins so")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long each is measured")
    parser.add_argument("--postgres", action="store_true", help="servers on PostgreSQL")
    parser.add_argument("--smoke", action="store_true", help="tiny attacks: does it all run?")
    options = parser.parse_args()
    out = Console()
    chosen = [
        attack
        for family in FAMILIES
        for attack in family.ATTACKS
        if attack.name.startswith(options.only)
    ]
    seconds = 1.0 if options.smoke else options.seconds
    figures: list[Figure] = []
    with Postgres() as postgres:
        for attack in chosen:
            out.print(f"{attack.name} ({attack.finding}) …")
            database = postgres.database() if options.postgres else nullcontext("")
            with database as url:
                found = measure(attack, seconds, smoke=options.smoke, database=url)
            show(found, out)
            figures += found
    missed = [each for each in figures if each.missed]
    out.print(f"{len(figures)} figures, {len(missed)} missed")
    for each in missed:
        out.print(f"  missed: {each.attack}: {each.what}")
    return int(bool(missed) and not options.smoke)


def measure(
    attack: Attack, seconds: float, *, smoke: bool = False, database: str = ""
) -> list[Figure]:
    """The figures of one attack, on a server of its own."""
    with tempfile.TemporaryDirectory(prefix=PREFIX) as name:
        folder = Path(name)
        with serving(folder, attack.settings, attack.descriptors, database) as target:
            quiet, hostile = target.user("quiet"), target.user("hostile")
            where = Where(target.host, target.port, hostile, folder, smoke)
            login = "quiet" if attack.logs_in else ""
            # The first requests load what others find.
            probe(target, quiet, min(seconds, 2.0), login)
            rest = probe(target, quiet, seconds, login)
            before_mb = target.resident_mb()
            with MemoryWatch(target) as memory, running(attack, where):
                under = probe(target, quiet, seconds, login)
            growth_mb = memory.highest_mb - before_mb
            return [
                *_waits(attack, rest, under),
                _growth(attack, growth_mb),
                *_after(attack, target, quiet),
            ]


@contextmanager
def running(attack: Attack, where: Where) -> Iterator[None]:
    """The attack in full force, in a process of its own."""
    spawn = multiprocessing.get_context("spawn")
    signals = Signals(spawn.Event(), spawn.Event())
    process = spawn.Process(target=attack.run, args=(where, signals), daemon=True)
    process.start()
    try:
        assert signals.begun.wait(BEGIN_S), f"{attack.name} did not begin"
        yield
        assert process.is_alive() or process.exitcode == 0, f"{attack.name} broke off"
    finally:
        signals.stop.set()
        process.join(END_S)
        if process.is_alive():
            process.kill()


def _waits(attack: Attack, rest: Probed, under: Probed) -> list[Figure]:
    found = []
    calm = rest.p95()
    for what, value in under.p95().items():
        found.append(Figure(attack.name, f"p95 of {what}", value, MOST_S, unit="s"))
        ratio = value / calm[what]
        found.append(Figure(attack.name, f"p95 of {what} ÷ at rest", ratio, RATIO, RATIO_AIM))
    failed = float(len(under.failed))
    what = "requests of others that failed" + "".join(f"; {each}" for each in under.failed[:2])
    return [*found, Figure(attack.name, what, failed, 0.0)]


def _growth(attack: Attack, growth_mb: float) -> Figure:
    what = "growth of the server's memory"
    return Figure(attack.name, what, growth_mb, attack.growth_mb, attack.growth_aim_mb, "MB")


def _after(attack: Attack, target: Target, quiet: str) -> list[Figure]:
    """How the server answers once the attack is over."""
    after = probe(target, quiet, 1.0)
    value = max(after.p95().values())
    return [Figure(attack.name, "p95 of the slower one, afterwards", value, MOST_S, unit="s")]


if __name__ == "__main__":
    sys.exit(main())
