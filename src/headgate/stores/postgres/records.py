"""Counters and events, which every change writes, and JSON columns."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from headgate.core.job import Job
from headgate.stores.postgres.connection import PostgresSession
from headgate.stores.postgres.literals import number_array, storable, text_array

SHARDS = 16
"""Workers spread their counts over this many rows, so that none of them is hot."""
NO_WORKER = SHARDS
"""The shard of changes that are not made by a worker."""


async def add_counts(session: PostgresSession, changes: Iterable[tuple[int, str, int]]) -> None:
    """Change the maintained counters: (job, status, difference) each."""
    totals: Counter[tuple[int, str]] = Counter()
    for job_id, status, n in changes:
        totals[job_id, status] += n
    moved = [(job_id, status, n) for (job_id, status), n in totals.items() if n]
    if moved:
        await session.change(
            "add_counts",
            jobs=number_array([job_id for job_id, _, _ in moved]),
            shards=number_array([NO_WORKER] * len(moved)),
            statuses=text_array([status for _, status, _ in moved]),
            n=number_array([n for _, _, n in moved]),
        )


async def add_event(
    session: PostgresSession,
    kind: str,
    message: str,
    job_id: int | None = None,
    item_id: int | None = None,
) -> None:
    await session.change(
        "insert_event", kind=kind, message=storable(message), job_id=job_id, item_id=item_id
    )


def job_from(row: dict[str, Any]) -> Job:
    texts = ("key_columns", "config", "columns", "ingest")
    parsed = {name: msgspec.json.decode(row[name]) for name in texts}
    for name in ("reading", "options"):
        parsed[name] = None if row[name] is None else msgspec.json.decode(row[name])
    return msgspec.convert({**row, **parsed}, Job)


def as_json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def as_json_or_none(value: object) -> str | None:
    return None if value is None else as_json(value)


def fitting(**values: Any) -> dict[str, Any]:
    """Values of a query whose texts users enter, without what a text column cannot hold."""
    return {
        name: storable(value) if isinstance(value, str) else value for name, value in values.items()
    }
