"""Histories of items, as a store would return them."""

from collections.abc import Sequence
from typing import Any

import msgspec

from headgate.core.call import Call, CallKind
from headgate.core.status import ItemStatus
from headgate.ports.jobs import ItemHistory
from headgate.ports.reads import AttemptRow, ExportRow

SECOND = 1_000_000
NOON = 1_700_000_000 * SECOND
FILE = {
    "resolver": "unpaywall",
    "url": "https://a.example/x.pdf",
    "final_url": "https://b.example/x.pdf",
    "content_type": "application/pdf",
    "bytes": 2_000,
    "sha256": "ab" * 32,
    "path": "x.pdf",
    "cache": "fetched",
    "tried": [],
}


def call(kind: CallKind = CallKind.FETCHED, status: int = 200, **changes: Any) -> Call:
    """A GET of 2,000 bytes."""
    facts = {
        "at_us": NOON,
        "verb": "GET",
        "provider": "",
        "host": "a.example",
        "status": status,
        "kind": kind,
        "bytes": 2_000,
        "ran_ms": 12.3456,
        "waited_ms": 0.0,
    }
    return Call(**(facts | changes))


def attempt(outcome: str, *calls: Call, number: int = 1, **changes: Any) -> AttemptRow:
    """An attempt that waited for one second, ran for two, and ended `number` minutes after noon."""
    ended_at = NOON + number * 60 * SECOND
    row = AttemptRow(
        number=number,
        epoch=number,
        worker="w",
        strategy=0,
        outcome=outcome,
        error_class=None,
        reason=None,
        leased_at=ended_at - 3 * SECOND,
        waited_us=SECOND,
        ran_us=2 * SECOND,
        ended_at=ended_at,
        calls=msgspec.json.encode(calls).decode() if calls else None,
    )
    return msgspec.structs.replace(row, **changes)


def history(
    status: ItemStatus = ItemStatus.DONE,
    attempts: Sequence[AttemptRow] = (),
    *,
    result: dict[str, Any] | None = None,
    **changes: Any,
) -> ItemHistory:
    """An item that asks for a DOI."""
    row = ExportRow(
        id=7,
        key="doi:10.1234/abc",
        status=status,
        input='{"id":"10.1234/ABC"}',
        result=None if result is None else msgspec.json.encode(result).decode(),
        error_class=None,
        error=None,
    )
    return ItemHistory(msgspec.structs.replace(row, **changes), attempts)
