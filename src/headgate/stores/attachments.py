"""Keeps what settlements carry with them: rows, follow-up items, counters and closings.

All of it is part of the settle transaction, and a whole batch of attachments is a few statements.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from headgate.core.errors import UsageError
from headgate.core.mirror import ATTACHABLE, Attachment
from headgate.core.row_plan import StreamTally
from headgate.core.settlement import Settlement
from headgate.core.status import ItemStatus
from headgate.stores.closing import CheckpointName, add_closing_items, close
from headgate.stores.mirror_rows import write_fields, write_rows
from headgate.stores.spawn import SpawnedItem, spawn
from headgate.stores.transaction import Transaction


class HeldAttachment(NamedTuple):
    """An attachment whose item is still leased."""

    attachment: Attachment
    checkpoint: str
    """Of the item; empty: none."""
    status: ItemStatus
    """That the settlement gives the item."""


@dataclass(slots=True)
class PassState:
    """Streams and checkpoints of a job, with the counts of this batch."""

    streams: dict[str, StreamTally] = field(default_factory=dict)
    checkpoints: dict[str, int] = field(default_factory=dict)
    """The stream of each checkpoint."""
    pages: dict[str, int] = field(default_factory=dict)
    totals: dict[str, int] = field(default_factory=dict)


class Kept(NamedTuple):
    rows: int
    spawned: int


async def held_attachments(
    tx: Transaction,
    worker: str,
    attachments: Sequence[Attachment],
    settlements: Iterable[Settlement],
) -> list[HeldAttachment]:
    """The attachments whose settlement is going to be accepted, in order of item."""
    status = {(each.item_id, each.epoch): each.status for each in settlements}
    ordered = sorted(attachments, key=lambda each: each.item_id)
    columns = {
        "items": [each.item_id for each in ordered],
        "jobs": [each.job_id for each in ordered],
        "epochs": [each.epoch for each in ordered],
    }
    checkpoints = dict(await tx.rows("attached_items", worker=worker, **tx.table(columns)))
    held = [
        HeldAttachment(each, checkpoints[each.item_id], status[each.item_id, each.epoch])
        for each in ordered
        if each.item_id in checkpoints and (each.item_id, each.epoch) in status
    ]
    return [each for each in held if each.status in ATTACHABLE]


async def keep(tx: Transaction, held: Sequence[HeldAttachment]) -> Kept:
    """Store rows, fields and follow-ups, and count them; before the items are settled."""
    passes = await _passes(tx, held)
    pages = [
        (_streams(passes, each.attachment), each.attachment.rows)
        for each in held
        if each.attachment.rows
    ]
    rows = sum(len(rows) for _, rows in pages)
    follow_ups = await write_rows(tx, pages) if pages else []
    items = [
        *((each.attachment.job_id, item) for each in held for item in each.attachment.items),
        *follow_ups,
    ]
    for each in held:
        if each.attachment.fields:
            streams = _streams(passes, each.attachment)
            await write_fields(tx, each.attachment, streams)
    spawned = await spawn(tx, [SpawnedItem.of(job_id, item) for job_id, item in items])
    await _count(tx, passes, held)
    return Kept(rows, spawned)


async def settle_checkpoints(tx: Transaction, held: Sequence[HeldAttachment]) -> int:
    """Close checkpoints and add items that close them; after the items were settled.

    Returns the number of items added.
    """
    touched: dict[CheckpointName, None] = {
        CheckpointName(each.attachment.job_id, each.checkpoint): None
        for each in held
        if each.checkpoint
    }
    for each in held:
        if each.attachment.closing is not None:
            followers = await close(tx, each.attachment.job_id, each.attachment.closing)
            touched |= dict.fromkeys(followers)
    return await add_closing_items(tx, list(touched))


async def _passes(tx: Transaction, held: Sequence[HeldAttachment]) -> dict[int, PassState]:
    passes = {each.attachment.job_id: PassState() for each in held}
    jobs = sorted(passes)
    for job_id, name, stream_id, full_pass in await tx.rows("streams_of_passes", jobs=jobs):
        passes[job_id].streams[name] = StreamTally(stream_id, job_id, full_pass)
    for job_id, name, stream_id in await tx.rows("checkpoints_of_passes", jobs=jobs):
        passes[job_id].checkpoints[name] = stream_id
    return passes


def _streams(passes: Mapping[int, PassState], attachment: Attachment) -> Mapping[str, StreamTally]:
    streams = passes[attachment.job_id].streams
    unknown = {row.stream for row in attachment.rows} | attachment.fields.keys()
    unknown -= streams.keys()
    if unknown:
        raise UsageError(
            f"job {attachment.job_id} has no stream {min(unknown)!r}: begin its pass with a"
            " checkpoint for each stream"
        )
    return streams


async def _count(
    tx: Transaction, passes: Mapping[int, PassState], held: Sequence[HeldAttachment]
) -> None:
    """Add the pages and rows of this batch to the checkpoints."""
    for each in held:
        state, name = passes[each.attachment.job_id], each.checkpoint
        if name in state.checkpoints:
            state.pages[name] = state.pages.get(name, 0) + (each.status is ItemStatus.DONE)
            if each.attachment.total is not None:
                state.totals[name] = each.attachment.total
    counted = [row for job_id, state in passes.items() for row in _counts(job_id, state)]
    if counted:
        await tx.change("count_pages", **tx.table(_columns(COUNTED, counted)))


COUNTED = ("jobs", "names", "pages", "added", "changed", "unchanged", "repeated", "totals")


def _counts(job_id: int, state: PassState) -> Iterable[tuple[Any, ...]]:
    """A stream's rows count in its first checkpoint by name; it has one as a rule."""
    tallies = {each.id: each for each in state.streams.values()}
    for name, stream_id in state.checkpoints.items():
        found = tallies.pop(stream_id, None) or StreamTally(stream_id, job_id, 0)
        rows = (found.added, found.changed, found.unchanged, found.repeated)
        if name in state.pages or any(rows):
            yield job_id, name, state.pages.get(name, 0), *rows, state.totals.get(name)


def _columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    return {name: list(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)}
