"""Closes checkpoints: when every item has ended well an item is added, and that one closes it."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from headgate.core.mirror import Closing, Proof
from headgate.stores.rows import as_json
from headgate.stores.spawn import SpawnedItem, spawn
from headgate.stores.transaction import Transaction


class CheckpointName(NamedTuple):
    job_id: int
    name: str


async def lock_mirrors(tx: Transaction, jobs: Iterable[int]) -> None:
    """Let no other transaction write to the mirrors of these jobs."""
    found = await tx.rows("mirrors_of_jobs", jobs=sorted(set(jobs)))
    if found:
        await tx.lock("mirrors", ids=[row[0] for row in found])


def closing_key(checkpoint: str, number: int) -> str:
    """The key of the item that closes a checkpoint, at the first, second … time."""
    return f"{checkpoint}/closing/{number}"


async def add_closing_items(tx: Transaction, touched: Sequence[CheckpointName]) -> int:
    """Add the closing item of each checkpoint whose items have all ended well.

    Not while the parent is incomplete, nor while an earlier closing item is open or failed. The
    closing item is not part of its checkpoint, so it does not bring about the next one.
    """
    if not touched:
        return 0
    ready = await tx.rows("ready_to_close", **_table(tx, touched))
    if not ready:
        return 0
    names = [CheckpointName(job_id, name) for job_id, name, _, _ in ready]
    await tx.change("count_closings", **_table(tx, names))
    return await spawn(
        tx,
        [
            SpawnedItem(job_id, closing_key(name, number), given)
            for job_id, name, number, given in ready
        ],
    )


async def add_overdue_closings(tx: Transaction, job_id: int) -> int:
    """The same for checkpoints of a pass that never had a closing item; at the end of the pass."""
    found = await tx.rows("never_closed", job_id=job_id)
    return await add_closing_items(tx, [CheckpointName(job_id, name) for (name,) in found])


async def close(tx: Transaction, job_id: int, closing: Closing) -> list[CheckpointName]:
    """Complete a checkpoint, unless an item of it is open or failed.

    Returns the checkpoints that waited for it.
    """
    closed = await tx.record(
        "close_checkpoint",
        job_id=job_id,
        name=closing.checkpoint,
        proof=closing.proof,
        evidence=as_json(closing.evidence),
    )
    if closed is None:
        return []
    if closing.proof is not Proof.UNPROVEN and await _parent_is_proven(tx, closed):
        await _move_stream(tx, closed, closing)
    await tx.change("count_live", stream_id=closed["stream_id"])
    await tx.add_event("checkpoint", f"{closing.checkpoint} is complete: {closing.proof}", job_id)
    waiting = await tx.rows("checkpoints_after", job_id=job_id, name=closing.checkpoint)
    return [CheckpointName(job_id, name) for (name,) in waiting]


async def _parent_is_proven(tx: Transaction, closed: dict[str, Any]) -> bool:
    """False if rows of unknown parents may be missing; True without a parent."""
    if not closed["after_checkpoint"]:
        return True
    parent = await tx.record("checkpoint", job_id=closed["job_id"], name=closed["after_checkpoint"])
    if parent is None or parent["proof"] in {None, Proof.UNPROVEN}:
        return False
    whole = parent["mode"] == "full" or closed["mode"] != "full"
    return whole and await _parent_is_proven(tx, parent)


async def _move_stream(tx: Transaction, closed: dict[str, Any], closing: Closing) -> None:
    """Delete what a full pass did not see, and move the watermark."""
    place = {"stream_id": closed["stream_id"], "job_id": closed["job_id"]}
    if closing.watermark is not None:
        await tx.change("move_watermark", watermark=closing.watermark, **place)
    if not closing.deletes or closed["mode"] != "full":
        return
    if await tx.rows("move_full_pass", **place):
        await tx.change("mark_deletes", job_id=closed["job_id"], name=closed["name"])


def _table(tx: Transaction, names: Sequence[CheckpointName]) -> dict[str, Any]:
    columns: dict[str, Sequence[Any]] = {
        "jobs": [each.job_id for each in names],
        "names": [each.name for each in names],
    }
    return tx.table(columns)
