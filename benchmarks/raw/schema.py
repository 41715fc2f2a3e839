"""Our own tables, made from the migrations as they lie in the source, and rows that fit them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.workload import COLUMNS, rows

STORES = Path(__file__).resolve().parent.parent.parent / "src" / "headgate" / "stores"
JOB = 1
NOW = 1_800_000_000_000_000  # microseconds; any fixed time will do


@dataclass(frozen=True)
class Column:
    name: str
    required: bool


# What ingest writes into a new row; all else is left to its default.
FRESH: dict[str, Callable[[int, str], object]] = {
    "job_id": lambda _number, _text: JOB,
    "key": lambda number, _text: f"{number:08d}",
    "status": lambda _number, _text: "PENDING",
    "updated_at": lambda _number, _text: NOW,
    "owner": lambda _number, _text: "bench",
    "handler": lambda _number, _text: "bench.noop",
    "line": lambda number, _text: number + 2,
    "summary": lambda number, _text: f"SKU-{number:08d}",
    "input": lambda _number, text: text,
}


def migrations(store: str) -> list[str]:
    return [path.read_text() for path in sorted((STORES / store / "migrations").glob("*.sql"))]


def chosen(columns: Iterable[Column]) -> list[str]:
    """The columns that ingest writes; the table must not require another one."""
    names = []
    for column in columns:
        if column.name in FRESH:
            names.append(column.name)
        elif column.required:
            raise SystemExit(f"the table insists on {column.name}; say in FRESH what a new row has")
    return names


def prepared(items: int, names: Sequence[str]) -> list[tuple[object, ...]]:
    """All rows in memory, so that only the database is on the clock."""
    makers = [FRESH[name] for name in names]
    texts = (json.dumps(dict(zip(COLUMNS, row, strict=True))) for row in rows(items))
    return [tuple(make(number, text) for make in makers) for number, text in enumerate(texts)]
