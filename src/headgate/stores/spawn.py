"""Adds items to jobs inside another transaction; a key that the job already has is left out."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from headgate.core.item import NewItem
from headgate.core.mirror import FollowUp
from headgate.core.status import ItemStatus
from headgate.stores.rows import as_json
from headgate.stores.transaction import Transaction

COLUMNS = ("jobs", "keys", "inputs", "checkpoints", "gates", "lines", "summaries")


class SpawnedItem(NamedTuple):
    job_id: int
    key: str
    input: str
    checkpoint: str = ""
    gate: str = ""
    line: int = 0
    summary: str = ""

    @classmethod
    def of(cls, job_id: int, item: FollowUp | NewItem) -> "SpawnedItem":
        if isinstance(item, FollowUp):
            return cls(job_id, item.key, as_json(item.input), item.checkpoint, item.gate)
        texts = (item.key, item.input, item.checkpoint, item.gate)
        return cls(job_id, *texts, item.line, item.summary)


async def spawn(tx: Transaction, items: Sequence[SpawnedItem]) -> int:
    """The number of items added; they are counted as PENDING."""
    new = {(each.job_id, each.key): each for each in reversed(items)}
    if not new:
        return 0
    # Of two with the same key, the first is added; the order stays.
    rows = list(reversed(new.values()))
    columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    added = Counter(row[0] for row in await tx.rows("spawn_items", **tx.table(columns)))
    await tx.add_counts((job_id, ItemStatus.PENDING, n) for job_id, n in added.items())
    return added.total()
