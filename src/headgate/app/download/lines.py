"""From a stored item to its line in the manifest."""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.app.download.visits import last_visit, started_us
from headgate.core.fault import FaultClass
from headgate.core.manifest import FinalOutcome, ManifestLine
from headgate.core.moment import stamp
from headgate.core.status import OPEN, ItemStatus
from headgate.handlers.download.identifier import given_in
from headgate.ports.job_reads import ItemHistory
from headgate.ports.reads import ExportRow

OUTCOMES: Mapping[ItemStatus, FinalOutcome] = {
    ItemStatus.DONE: FinalOutcome.DONE,
    ItemStatus.SKIPPED: FinalOutcome.SKIPPED,
    ItemStatus.NOT_FOUND: FinalOutcome.NOT_FOUND,
}
"""What is final otherwise is an error: no file, and somebody should look."""
DUPLICATE = "duplicate"

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class Result(msgspec.Struct, frozen=True):
    """What an item keeps of its download, as far as the manifest has it."""

    reason: str | None = None
    resolver: str | None = None
    url: str | None = None
    final_url: str | None = None
    content_type: str | None = None
    bytes: int | None = None
    sha256: str | None = None
    path: str | None = None
    cache: str | None = None


_read = msgspec.json.Decoder(Result).decode


def manifest_line(history: ItemHistory, first: ExportRow | None = None) -> ManifestLine | None:
    """The line of an item; None while it is not finished.

    `first` is the row that asks for the same as one that was left alone: its file serves both.
    """
    row = history.row
    if row.status in OPEN:
        return None
    visit = last_visit(history.attempts)
    return ManifestLine(
        id=row.key,
        input=_given(row.input),
        outcome=OUTCOMES.get(row.status, FinalOutcome.ERROR),
        started_at=stamp(started_us(visit[0])) if visit else None,
        finished_at=stamp(visit[-1].ended_at) if visit else None,
        **msgspec.structs.asdict(_shared(first) if is_duplicate(row) else _own(row)),
    )


def is_duplicate(row: ExportRow) -> bool:
    """Whether a row was left alone because an earlier one asks for the same."""
    return row.status is ItemStatus.SKIPPED and row.error_class == FaultClass.BAD_ROW


def first_key(row: ExportRow) -> str:
    """The key of the row that asks for the same."""
    return row.key.rpartition("#")[0]


def result_of(row: ExportRow) -> Result:
    """What an item keeps of its download; nothing where there was none."""
    return _read(row.result) if row.result else Result()


def _given(text: str) -> str:
    """What the row asks for, as it is written there; of a bad one, as much as can be told."""
    values = _decode(text)
    shown = given_in(values) or next((value for value in values.values() if value), text)
    return str(shown)


def _own(row: ExportRow) -> Result:
    result = result_of(row)
    if result.reason or row.status is ItemStatus.DONE:
        return result
    return msgspec.structs.replace(result, reason=_why(row))


def _why(row: ExportRow) -> str:
    if row.status is ItemStatus.CANCELLED:
        return "cancelled"
    return f"{row.error_class}: {row.error}" if row.error_class else row.error or ""


def _shared(first: ExportRow | None) -> Result:
    result = Result() if first is None else result_of(first)
    return msgspec.structs.replace(result, reason=DUPLICATE)
