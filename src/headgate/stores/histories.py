"""Rows and attempts that were read side by side, put together."""

from collections.abc import Iterable, Sequence
from typing import Any

from headgate.core.status import ItemStatus
from headgate.ports.history import ItemHistory
from headgate.ports.reads import AttemptRow, ExportRow


def export_row(row: Sequence[Any]) -> ExportRow:
    """A row of the query `export_rows` or `rows_by_key`."""
    item_id, key, status, *rest = row
    return ExportRow(item_id, key, ItemStatus(status), *rest)


def histories(rows: Sequence[ExportRow], attempts: Iterable[Sequence[Any]]) -> list[ItemHistory]:
    """Each row with its attempts; of these, the first value names the item."""
    found: dict[int, list[AttemptRow]] = {row.id: [] for row in rows}
    for item_id, *attempt in attempts:
        found[item_id].append(AttemptRow(*attempt))
    return [ItemHistory(row, found[row.id]) for row in rows]
