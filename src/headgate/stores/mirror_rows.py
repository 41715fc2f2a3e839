"""Writes the rows of pages into a mirror, and what is new about their fields."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from headgate.core.json_types import drift_text, field_changes
from headgate.core.mirror import Attachment, FollowUp, MirrorRow
from headgate.core.row_plan import RESTORED, Page, PlannedRow, StoredHead, StreamTally, plan_rows
from headgate.stores.transaction import Transaction

_encode = msgspec.json.Encoder().encode


async def write_rows(tx: Transaction, pages: Sequence[Page]) -> list[tuple[int, FollowUp]]:
    """Upsert rows and count them in their tallies; returns the items that follow, by job."""
    columns: dict[str, Sequence[Any]] = {
        "streams": [streams[row.stream].id for streams, rows in pages for row in rows],
        "ids": [row.id for _, rows in pages for row in rows],
    }
    found = await tx.rows("known_heads", **tx.table(columns))
    plan = plan_rows(pages, {place: StoredHead(*head) for place, *head in found})
    if plan.added:
        await _insert(tx, plan.added)
    if plan.changed:
        await _change(tx, plan.changed)
    if plan.flagged:
        await _flag(tx, plan.flagged)
    for pass_id, numbers in plan.seen.items():
        await tx.change("see_rows", pass_id=pass_id, numbers=numbers)
    return plan.follow_ups


async def _insert(tx: Transaction, added: Sequence[PlannedRow]) -> None:
    numbers = [row[0] for row in await tx.rows("new_row_numbers", count=len(added))]
    heads: dict[str, Sequence[Any]] = {
        "numbers": numbers,
        "streams": [each.stream.id for each in added],
        "ids": [each.row.id for each in added],
        "hashes": [each.hash for each in added],
        "updated": [each.row.updated for each in added],
        "parents": [each.row.parent for each in added],
        "deleted": [each.deleted for each in added],
        "passes": [each.stream.pass_id for each in added],
    }
    await tx.change("insert_heads", **tx.table(heads))
    bodies: dict[str, Sequence[Any]] = {
        "numbers": numbers,
        "bodies": [_json(each.row) for each in added],
    }
    await tx.change("insert_bodies", **tx.table(bodies))


async def _change(tx: Transaction, changed: Sequence[PlannedRow]) -> None:
    """Replace bodies."""
    numbers = await _log(tx, changed)
    heads: dict[str, Sequence[Any]] = {
        "numbers": numbers,
        "hashes": [each.hash for each in changed],
        "updated": [each.row.updated for each in changed],
        "parents": [each.row.parent for each in changed],
        "deleted": [each.deleted for each in changed],
        "passes": [each.stream.pass_id for each in changed],
    }
    await tx.change("change_heads", **tx.table(heads))
    bodies: dict[str, Sequence[Any]] = {
        "numbers": numbers,
        "bodies": [_json(each.row) for each in changed],
    }
    await tx.change("change_bodies", **tx.table(bodies))


async def _flag(tx: Transaction, flagged: Sequence[PlannedRow]) -> None:
    """Mark rows as deleted or restored; hash and body stay together."""
    heads: dict[str, Sequence[Any]] = {
        "numbers": await _log(tx, flagged),
        "deleted": [each.deleted for each in flagged],
        "passes": [each.stream.pass_id for each in flagged],
    }
    await tx.change("flag_heads", **tx.table(heads))


async def _log(tx: Transaction, changed: Sequence[PlannedRow]) -> list[int]:
    """Log the bodies as they are before the change; returns the numbers of the rows."""
    numbers = [each.head.number for each in changed if each.head is not None]
    log: dict[str, Sequence[Any]] = {
        "numbers": numbers,
        "streams": [each.stream.id for each in changed],
        "passes": [each.stream.pass_id for each in changed],
        "kinds": [each.kind for each in changed],
    }
    maybe_absent = [
        number
        for number, each in zip(numbers, changed, strict=True)
        if each.kind == RESTORED or each.deleted
    ]
    if maybe_absent:
        await tx.change("log_absences", numbers=maybe_absent)
    await tx.change("insert_changes", **tx.table(log))
    return numbers


def _json(row: MirrorRow) -> msgspec.Raw:
    return row.body if isinstance(row.body, msgspec.Raw) else msgspec.Raw(_encode(row.body))


async def write_fields(
    tx: Transaction, attachment: Attachment, streams: Mapping[str, StreamTally]
) -> None:
    """Add fields and types that the mirror does not know yet; an event names them."""
    ids = [streams[name].id for name in attachment.fields]
    stored: dict[int, dict[str, int]] = {stream_id: {} for stream_id in ids}
    for stream_id, name, types, _ in await tx.rows("stream_fields", streams=ids):
        stored[stream_id][name] = types
    for stream, observed in attachment.fields.items():
        known = stored[streams[stream].id]
        changes = field_changes(known, observed)
        if not changes:
            continue
        columns: dict[str, list[Any]] = {
            "streams": [streams[stream].id] * len(changes),
            "names": [each.name for each in changes],
            "types": [each.types for each in changes],
            "ordinals": list(range(len(known), len(known) + len(changes))),
            "passes": [attachment.job_id] * len(changes),
        }
        await tx.change("put_fields", **tx.table(columns))
        await tx.add_event("schema", drift_text(stream, changes), attachment.job_id)
