"""The raw limits as contenders."""

from __future__ import annotations

from benchmarks.harness import Bench, Contender
from benchmarks.measurement import UnavailableError, Values
from benchmarks.scripts import ROOT, numbers, run_module


def require_schema(store: str) -> None:
    if not (ROOT / "src" / "headgate" / "stores" / store / "migrations").is_dir():
        raise UnavailableError(f"the {store} store has no migrations")


def sqlite_claim(bench: Bench) -> Values:
    with bench.scratch() as folder:
        arguments = {"items": bench.sizes.drain, "folder": folder}
        return numbers(run_module("benchmarks.raw.sqlite_claim", arguments), "items_per_s")


def sqlite_insert(bench: Bench, items: int | None = None) -> Values:
    require_schema("sqlite")
    with bench.scratch() as folder:
        arguments = {"items": items or bench.sizes.drain, "folder": folder}
        return numbers(run_module("benchmarks.raw.sqlite_insert", arguments), "rows_per_s")


def postgres_copy(bench: Bench, items: int | None = None) -> Values:
    require_schema("postgres")
    with bench.postgres.database() as url:
        arguments = {"items": items or bench.sizes.drain, "dsn": url}
        return numbers(run_module("benchmarks.raw.postgres_copy", arguments), "rows_per_s")


SQLITE_CLAIM = Contender("raw sqlite3 claim and acknowledge", sqlite_claim)
SQLITE_INSERT = Contender("raw sqlite3 executemany", sqlite_insert)
POSTGRES_COPY = Contender("raw PostgreSQL COPY", postgres_copy)
