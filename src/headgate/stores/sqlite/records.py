"""What every verb writes beside the rows it is about: counters and events."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from headgate.stores.sqlite.connection import Transaction


def as_json(value: object) -> str:
    """JSON text for a query parameter."""
    return msgspec.json.encode(value).decode()


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
    """Append to the record of decisions."""
    tx.change("insert_event", kind=kind, message=message, job_id=job_id, item_id=item_id)
