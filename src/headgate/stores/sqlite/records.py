"""Turns rows into jobs, and writes counters and events, which every change needs."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from headgate.core.job import Job
from headgate.stores.sqlite.connection import Transaction


def as_json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def as_json_or_none(value: object) -> str | None:
    return None if value is None else as_json(value)


def job_from(row: dict[str, Any]) -> Job:
    parsed = {
        name: msgspec.json.decode(row[name])
        for name in ("key_columns", "config", "columns", "ingest")
    }
    flags = {name: bool(row[name]) for name in ("open", "eager", "ingest_complete")}
    parsed |= {
        name: None if row[name] is None else msgspec.json.decode(row[name])
        for name in ("reading", "options")
    }
    return msgspec.convert({**row, **parsed, **flags}, Job)


def add_counts(tx: Transaction, changes: Iterable[tuple[int, str, int]]) -> None:
    """Change the maintained counters: (job, status, difference) each."""
    totals: Counter[tuple[int, str]] = Counter()
    for job_id, status, n in changes:
        totals[job_id, status] += n
    for (job_id, status), n in totals.items():
        if n:
            tx.change("add_count", job_id=job_id, status=status, n=n)


def add_event(
    tx: Transaction,
    kind: str,
    message: str,
    job_id: int | None = None,
    item_id: int | None = None,
) -> None:
    tx.change("insert_event", kind=kind, message=message, job_id=job_id, item_id=item_id)
