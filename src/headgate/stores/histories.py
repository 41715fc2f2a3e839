"""Rows and attempts that were read side by side, put together."""

from collections.abc import Iterable, Sequence
from typing import Any

from headgate.core.job import Counts
from headgate.ports.history import ItemHistory
from headgate.ports.reads import AttemptRow, ExportRow
from headgate.stores.listing import STATUSES


def export_rows(rows: Iterable[Sequence[Any]]) -> list[ExportRow]:
    """The rows of the query `export_rows` or `rows_by_key`."""
    return [
        ExportRow(item_id, key, STATUSES[status], given, result, error_class, error)
        for item_id, key, status, given, result, error_class, error in rows
    ]


def counts_of(rows: Iterable[Sequence[Any]]) -> Counts:
    """Counters of statuses and their numbers."""
    return Counts(**{status.lower(): int(n) for status, n in rows})


def histories(rows: Sequence[ExportRow], attempts: Iterable[Sequence[Any]]) -> list[ItemHistory]:
    """Each row with its attempts; of these, the first value names the item."""
    found: dict[int, list[AttemptRow]] = {row.id: [] for row in rows}
    for item_id, *attempt in attempts:
        found[item_id].append(AttemptRow(*attempt))
    return [ItemHistory(row, found[row.id]) for row in rows]
