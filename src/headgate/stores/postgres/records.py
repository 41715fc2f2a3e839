"""What every verb writes beside the rows it is about: counters and events."""

from collections import Counter
from collections.abc import Iterable

from headgate.stores.postgres.connection import Session
from headgate.stores.postgres.literals import number_array, storable, text_array

SHARDS = 16
"""Workers spread their counts over so many rows, so that none of them is hot."""
NOBODY = SHARDS
"""The shard of everything that is not done by a worker."""


async def add_counts(session: Session, changes: Iterable[tuple[int, str, int]]) -> None:
    """Change the maintained counters: (job, status, difference) each."""
    totals: Counter[tuple[int, str]] = Counter()
    for job_id, status, n in changes:
        totals[job_id, status] += n
    moved = [(job_id, status, n) for (job_id, status), n in totals.items() if n]
    if moved:
        await session.change(
            "add_counts",
            jobs=number_array([job_id for job_id, _, _ in moved]),
            shards=number_array([NOBODY] * len(moved)),
            statuses=text_array([status for _, status, _ in moved]),
            n=number_array([n for _, _, n in moved]),
        )


async def add_event(
    session: Session,
    kind: str,
    message: str,
    job_id: int | None = None,
    item_id: int | None = None,
) -> None:
    """Append to the record of decisions."""
    await session.change(
        "insert_event", kind=kind, message=storable(message), job_id=job_id, item_id=item_id
    )
