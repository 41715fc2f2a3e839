"""The peers as contenders, at the settings that `python -m benchmarks --tune NAME` found best."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks import environment
from benchmarks.harness import Bench, Contender
from benchmarks.measurement import Values
from benchmarks.scripts import ROOT, numbers, run_script

PEERS = ROOT / "benchmarks" / "peers"

# With synchronous=FULL every kind of worker waits for the same disk; the best lead by little.
HUEY: dict[str, object] = {"worker-type": "process", "workers": 1, "storage": "sqlite3"}

# Both sides drain what they have just put in, so neither gets statistics or a vacuum first.
PGQUEUER: dict[int, dict[str, object]] = {
    1: {"driver": "asyncpg-pool", "batch-size": 1_000},
    2: {"driver": "asyncpg", "batch-size": 1_000},
}


def run_huey(bench: Bench, settings: Mapping[str, object]) -> dict[str, Any]:
    python = environment.require()
    with bench.scratch() as folder:
        size = {"items": bench.sizes.drain, "folder": folder}
        return run_script(python, PEERS / "huey_drain.py", {**size, **settings})


def run_pgqueuer(bench: Bench, settings: Mapping[str, object]) -> dict[str, Any]:
    python = environment.require()
    with bench.postgres.database() as url:
        size = {"items": bench.sizes.drain, "dsn": url}
        return run_script(python, PEERS / "pgqueuer_drain.py", {**size, **settings})


def huey(bench: Bench) -> Values:
    return numbers(run_huey(bench, HUEY), "items_per_s")


def pgqueuer(processes: int) -> Contender:
    settings = {**PGQUEUER[processes], "processes": processes}

    def run(bench: Bench) -> Values:
        return numbers(run_pgqueuer(bench, settings), "items_per_s")

    return Contender(f"pgqueuer, {processes} process{'es' * (processes > 1)}", run)


HUEY_DRAIN = Contender("huey", huey)
PGQUEUER_ONE = pgqueuer(1)
PGQUEUER_TWO = pgqueuer(2)
