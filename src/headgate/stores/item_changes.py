"""Changes items in bounded steps: reprocessing, cancelling, and decisions of reviews."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from headgate.core.errors import IllegalMove, UnknownItem, UnknownJob
from headgate.core.item import ClaimedItem, chosen_result, decision_text, require_decision
from headgate.core.status import OPEN, ItemMove, ItemStatus, JobMove, JobState, item_after
from headgate.ports.items import (
    OverdueLease,
    RecallRequest,
    RequeueRequest,
    ReusedResult,
    ReviewDecision,
    SweptItems,
)
from headgate.stores.closing import CheckpointName, add_closing_items, lock_mirrors
from headgate.stores.listing import WINDOW, kind_filter, patterns
from headgate.stores.rows import as_json, in_us
from headgate.stores.transaction import SqlDatabase, Transaction


class SqlItems:
    """What both databases do with items in the same way; each adds its own hot paths."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def leases_of(self, worker: str) -> list[ClaimedItem]:
        rows = await self._database.read(lambda tx: tx.rows("leases_of", worker=worker))
        return [ClaimedItem(*row) for row in rows]

    async def overdue(self, limit: int) -> list[OverdueLease]:
        rows = await self._database.read(lambda tx: tx.rows("overdue", limit=limit))
        return [OverdueLease(*row) for row in rows]

    async def requeue(self, request: RequeueRequest) -> SweptItems:
        for status in request.statuses:
            item_after(ItemMove.REQUEUE, status)
        return await self._database.write(lambda tx: _requeue(tx, request))

    async def would_requeue(self, request: RequeueRequest) -> SweptItems:
        return await self._database.read(lambda tx: _would_requeue(tx, request))

    async def decide(self, decision: ReviewDecision) -> None:
        await self._database.write(lambda tx: _decide(tx, decision))

    async def recall(self, request: RecallRequest) -> list[ReusedResult]:
        values = {
            "owner": request.owner,
            "digests": list(request.digests),
            "within_us": in_us(request.within_s),
        }
        rows = await self._database.read(lambda tx: tx.rows("recall", **values))
        return [ReusedResult(*row) for row in rows]

    async def cancel_items(self, job_id: int, limit: int = 5_000) -> int:
        return await self._database.write(lambda tx: _cancel(tx, job_id, limit))


async def return_leases(tx: Transaction, worker: str) -> int:
    returned = await tx.rows("return_leases", worker=worker)
    await tx.add_counts(counts_of_returned(returned))
    return len(returned)


def counts_of_returned(returned: Sequence[Any]) -> list[tuple[int, str, int]]:
    """What changes in the counters if these items, each with its job, become PENDING again."""
    changes: list[tuple[int, str, int]] = []
    for job_id, n in Counter(row[0] for row in returned).items():
        changes += [(job_id, ItemStatus.PROCESSING, -n), (job_id, ItemStatus.PENDING, n)]
    return changes


async def _requeue(tx: Transaction, request: RequeueRequest) -> SweptItems:
    """Requeue the matching items of the next step, and reopen the job."""
    job = await tx.locked("job", job_id=request.job_id)
    if job is None:
        raise _unknown(request)
    found, next_after_id = await _step(tx, request)
    moved = await _bring_back(tx, request, found) if found else 0
    if moved:
        await _reopen(tx, request.job_id, JobState(job["state"]))
    return SweptItems(moved, next_after_id)


async def _would_requeue(tx: Transaction, request: RequeueRequest) -> SweptItems:
    """Count what such a step would requeue."""
    if await tx.record("job", job_id=request.job_id) is None:
        raise _unknown(request)
    found, next_after_id = await _step(tx, request)
    return SweptItems(len(found), next_after_id)


def _unknown(request: RequeueRequest) -> UnknownJob:
    return UnknownJob(f"job {request.job_id} does not exist")


async def _step(tx: Transaction, request: RequeueRequest) -> tuple[list[int], int | None]:
    """The matching items of the next rows, and the position of the next step."""
    place = {"job_id": request.job_id, "after_id": request.after_id}
    last_id = None
    if request.ids is None:
        # Items named by ids are few; others may be anywhere in a long job.
        end = await tx.rows("window_in_order", rows=WINDOW, **place)
        last_id = end[0][0] if end else None
    rows = await tx.rows(
        "select_requeue",
        **place,
        last_id=last_id,
        statuses=sorted(request.statuses),
        error_class=request.error_class,
        but_class=request.but_class,
        **kind_filter(request.signature),
        below_attempts=request.below_attempts,
        changed_from=request.changed_from,
        changed_to=request.changed_to,
        ids=None if request.ids is None else list(request.ids),
        but_ids=list(request.but_ids),
        limit=request.limit,
        **patterns(request.text),
    )
    found = [row[0] for row in rows]
    return found, found[-1] if len(found) == request.limit else last_id


async def _bring_back(tx: Transaction, request: RequeueRequest, found: list[int]) -> int:
    statuses = sorted(request.statuses)
    held = await tx.rows("lock_items", job_id=request.job_id, ids=found, statuses=statuses)
    ids = [row[0] for row in held]
    await tx.change(
        "requeue_items", job_id=request.job_id, ids=ids, reset_attempts=request.reset_attempts
    )
    left = Counter(row[1] for row in held)
    if ItemStatus.DONE in left:
        await tx.change("delete_reusable", ids=ids)
    changes = [(request.job_id, status, -n) for status, n in left.items()]
    await tx.add_counts([*changes, (request.job_id, ItemStatus.PENDING, len(held))])
    return len(held)


async def _reopen(tx: Transaction, job_id: int, state: JobState) -> None:
    if state not in {JobState.DONE, JobState.FAILED, JobState.CANCELLED}:
        return
    await tx.records(
        "move_job",
        job_id=job_id,
        source=state,
        target=JobState.QUEUED,
        reason=None,
        resume_us=None,
    )
    message = f"{state} → {JobState.QUEUED}: {JobMove.REPROCESS}"
    await tx.add_event("job_state", message, job_id)


async def _cancel(tx: Transaction, job_id: int, limit: int) -> int:
    # The job's row is not locked: a concurrent first claim locks items before it.
    job = await tx.record("job", job_id=job_id)
    if job is None:
        return 0
    if job["state"] != JobState.CANCELLED:
        raise IllegalMove(
            f"job {job_id} is {job['state']}: only items of a cancelled job can be cancelled"
        )
    found = await tx.rows("select_open", job_id=job_id, statuses=sorted(OPEN), limit=limit)
    if found:
        ids = [row[0] for row in found]
        await tx.change("insert_cancelled_attempts", job_id=job_id, ids=ids)
        await tx.change("cancel_items", job_id=job_id, ids=ids)
        left = Counter(row[1] for row in found)
        changes = [(job_id, status, -n) for status, n in left.items()]
        await tx.add_counts([*changes, (job_id, ItemStatus.CANCELLED, len(found))])
    return len(found)


async def _decide(tx: Transaction, decision: ReviewDecision) -> None:
    """Move the item, store the decision, and count."""
    require_decision(decision.move, decision.candidate)
    item = await tx.locked("item", item_id=decision.item_id)
    if item is None or decision.owner not in {None, item["owner"]}:
        raise UnknownItem(f"item {decision.item_id} does not exist")
    if tx.again and await _was_committed(tx, decision, item["epoch"]):
        return
    job_id, target = item["job_id"], item_after(decision.move, ItemStatus(item["status"]))
    words = decision_text(decision.move, decision.candidate, decision.by, decision.reason)
    await tx.change(
        "decide_item",
        job_id=job_id,
        item_id=decision.item_id,
        status=target,
        result=await _keep_choice(tx, item, decision),
        reason=None if decision.candidate is not None else words,
    )
    await tx.change(
        "insert_decision",
        item_id=decision.item_id,
        epoch=item["epoch"],
        move=decision.move,
        candidate=decision.candidate,
        by=decision.by,
        reason=decision.reason,
    )
    await tx.add_counts([(job_id, ItemStatus.REVIEW, -1), (job_id, target, 1)])
    if item["checkpoint"]:
        await lock_mirrors(tx, [job_id])
        await add_closing_items(tx, [CheckpointName(job_id, item["checkpoint"])])
    await tx.add_event("decided", words, job_id, decision.item_id)


async def _was_committed(tx: Transaction, decision: ReviewDecision, epoch: int) -> bool:
    """True if a try that was cut off was committed."""
    given = {"move": decision.move, "candidate": decision.candidate, "by": decision.by}
    return bool(await tx.rows("same_decision", item_id=decision.item_id, epoch=epoch, **given))


async def _keep_choice(
    tx: Transaction, item: dict[str, Any], decision: ReviewDecision
) -> str | None:
    if decision.candidate is None:
        return None
    result = chosen_result(item["result"], decision.candidate)
    await tx.change("insert_columns", job_id=item["job_id"], names=list(result))
    return as_json(result)
