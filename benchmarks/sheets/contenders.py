"""Exports and ingests of workbooks as contenders; stores and files are made once a session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.harness import Bench, Contender, Sizes
from benchmarks.measurement import Values
from benchmarks.scripts import numbers, run_module

JOB = 1


def store(bench: Bench, items: int) -> Path:
    """A store with one finished job of this number of items."""
    path = bench.inputs / f"sheets-{items}.db"
    if not path.exists():
        unfinished = path.with_suffix(".part")
        run_module("benchmarks.sheets.fill", {"db": unfinished, "items": items})
        unfinished.rename(path)
    return path


def workbook(bench: Bench, items: int) -> Path:
    path = bench.inputs / f"sheets-{items}.xlsx"
    if not path.exists():
        run_module("benchmarks.sheets.alone", {"items": items, "out": path})
    return path


def export(name: str, ending: str, items: Callable[[Sizes], int]) -> Contender:
    def run(bench: Bench) -> Values:
        db = store(bench, items(bench.sizes))
        with bench.scratch() as folder:
            arguments = {"db": db, "job": JOB, "out": folder / f"out.{ending}"}
            return numbers(
                run_module("benchmarks.sheets.export", arguments), "rows_per_s", "rss_mb"
            )

    return Contender(name, run)


def write_alone(bench: Bench) -> Values:
    with bench.scratch() as folder:
        arguments = {"items": bench.sizes.exported, "out": folder / "out.xlsx"}
        return numbers(run_module("benchmarks.sheets.alone", arguments), "rows_per_s")


def read_alone(bench: Bench) -> Values:
    items = bench.sizes.sheet
    arguments = {"items": items, "file": workbook(bench, items)}
    return numbers(run_module("benchmarks.sheets.alone", arguments), "rows_per_s")


def ingest(bench: Bench) -> Values:
    file = workbook(bench, bench.sizes.sheet)
    with bench.scratch() as folder:
        arguments = {"db": folder / "headgate.db", "file": file}
        return numbers(run_module("benchmarks.sheets.ingest", arguments), "rows_per_s")


XLSX_OUT = export("headgate, XLSX export", "xlsx", lambda sizes: sizes.exported)
XLSX_OUT_FEW = export("headgate, XLSX export, few rows", "xlsx", lambda sizes: sizes.exported_few)
CSV_OUT = export("headgate, CSV export", "csv", lambda sizes: sizes.exported)
CSV_OUT_FEW = export("headgate, CSV export, few rows", "csv", lambda sizes: sizes.exported_few)
XLSX_IN = Contender("headgate, XLSX ingest", ingest)
RUSTPY = Contender("rustpy-xlsxwriter alone", write_alone)
CALAMINE = Contender("python-calamine alone", read_alone)
