"""Workbooks: how much of the libraries' own speed is left, and whether memory stays flat."""

from __future__ import annotations

from benchmarks.harness import Contender, Figure
from benchmarks.ratios import difference, ratio
from benchmarks.sheets.contenders import (
    CALAMINE,
    CSV_OUT,
    CSV_OUT_FEW,
    RUSTPY,
    XLSX_IN,
    XLSX_OUT,
    XLSX_OUT_FEW,
)


def memory(name: str, title: str, many: Contender, few: Contender) -> Figure:
    return Figure(
        name=name,
        title=title,
        contenders=(many, few),
        value=difference(many, few, "rss_mb"),
        must=30,
        aim=5,
        at_most=True,
        unit="MB",
    )


FIGURES = (
    Figure(
        name="xlsx-export",
        title="XLSX export from SQLite ÷ rustpy-xlsxwriter alone",
        contenders=(XLSX_OUT, RUSTPY),
        value=ratio(XLSX_OUT, RUSTPY, "rows_per_s"),
        must=0.5,
        aim=0.8,
    ),
    Figure(
        name="xlsx-ingest",
        title="XLSX ingest into SQLite ÷ python-calamine alone",
        contenders=(XLSX_IN, CALAMINE),
        value=ratio(XLSX_IN, CALAMINE, "rows_per_s"),
        must=0.4,
        aim=0.7,
    ),
    memory("xlsx-memory", "XLSX export's peak RSS, many rows minus few", XLSX_OUT, XLSX_OUT_FEW),
    memory("csv-memory", "CSV export's peak RSS, many rows minus few", CSV_OUT, CSV_OUT_FEW),
)
