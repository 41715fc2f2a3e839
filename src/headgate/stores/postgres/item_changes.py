"""Changes items in bounded steps: reprocessing, and decisions of reviews."""

from collections import Counter
from typing import Any

from headgate.core.errors import UnknownItem, UnknownJob
from headgate.core.review import chosen_result, require_decision, told
from headgate.core.status import ItemStatus, JobMove, JobState, item_after
from headgate.ports.items import RequeueRequest, ReviewDecision, SweptItems
from headgate.stores.listing import WINDOW, kind_filter, patterns
from headgate.stores.postgres.connection import PostgresSession
from headgate.stores.postgres.literals import number_array, storable, text_array
from headgate.stores.postgres.records import add_counts, add_event, as_json, fitting


async def requeue(session: PostgresSession, request: RequeueRequest) -> SweptItems:
    """Requeue the matching items of the next step, and reopen the job."""
    job = await session.record("lock_job", job_id=request.job_id)
    if job is None:
        raise _unknown(request)
    found, next_after_id = await _step(session, request)
    moved = await _bring_back(session, request, found) if found else 0
    if moved:
        await _reopen(session, request.job_id, JobState(job["state"]))
    return SweptItems(moved, next_after_id)


async def would_requeue(session: PostgresSession, request: RequeueRequest) -> SweptItems:
    """Count what such a step would requeue."""
    if await session.record("job", job_id=request.job_id) is None:
        raise _unknown(request)
    found, next_after_id = await _step(session, request)
    return SweptItems(len(found), next_after_id)


def _unknown(request: RequeueRequest) -> UnknownJob:
    return UnknownJob(f"job {request.job_id} does not exist")


async def _step(session: PostgresSession, request: RequeueRequest) -> tuple[list[int], int | None]:
    """The matching items of the next rows, and the position of the next step."""
    place = {"job_id": request.job_id, "after_id": request.after_id}
    last_id = None
    if request.ids is None:
        # Items named by ids are few; others may be anywhere in a long job.
        end = await session.rows("window_in_order", rows=WINDOW, **place)
        last_id = end[0][0] if end else None
    rows = await session.rows(
        "select_requeue",
        **place,
        last_id=last_id,
        statuses=text_array(sorted(request.statuses)),
        error_class=request.error_class,
        but_class=request.but_class,
        **kind_filter(request.signature),
        below_attempts=request.below_attempts,
        changed_from=request.changed_from,
        changed_to=request.changed_to,
        ids=None if request.ids is None else number_array(request.ids),
        but_ids=number_array(request.but_ids),
        limit=request.limit,
        **patterns(request.text),
    )
    found = [row[0] for row in rows]
    return found, found[-1] if len(found) == request.limit else last_id


async def _bring_back(session: PostgresSession, request: RequeueRequest, found: list[int]) -> int:
    held = await session.rows(
        "lock_items",
        job_id=request.job_id,
        ids=number_array(found),
        statuses=text_array(sorted(request.statuses)),
    )
    ids = number_array([row[0] for row in held])
    await session.change(
        "requeue_items", job_id=request.job_id, ids=ids, reset_attempts=request.reset_attempts
    )
    left = Counter(row[1] for row in held)
    if ItemStatus.DONE in left:
        await session.change("delete_reusable", ids=ids)
    changes = [(request.job_id, status, -n) for status, n in left.items()]
    await add_counts(session, [*changes, (request.job_id, ItemStatus.PENDING, len(held))])
    return len(held)


async def _reopen(session: PostgresSession, job_id: int, state: JobState) -> None:
    if state not in {JobState.DONE, JobState.FAILED, JobState.CANCELLED}:
        return
    await session.records(
        "move_job",
        job_id=job_id,
        source=state,
        target=JobState.QUEUED,
        reason=None,
        resume_us=None,
    )
    message = f"{state} → {JobState.QUEUED}: {JobMove.REPROCESS}"
    await add_event(session, "job_state", message, job_id)


async def decide(session: PostgresSession, decision: ReviewDecision) -> None:
    """Move the item, store the decision, and count."""
    require_decision(decision.move, decision.candidate)
    item = await session.record("lock_item", item_id=decision.item_id)
    if item is None or decision.owner not in {None, item["owner"]}:
        raise UnknownItem(f"item {decision.item_id} does not exist")
    if session.again and await _was_committed(session, decision, item["epoch"]):
        return
    job_id, target = item["job_id"], item_after(decision.move, ItemStatus(item["status"]))
    words = told(decision.move, decision.candidate, decision.by, decision.reason)
    await session.change(
        "decide_item",
        job_id=job_id,
        item_id=decision.item_id,
        status=target,
        result=await _keep_choice(session, item, decision),
        reason=None if decision.candidate is not None else storable(words),
    )
    await session.change("insert_decision", epoch=item["epoch"], **_kept(decision))
    await add_counts(session, [(job_id, ItemStatus.REVIEW, -1), (job_id, target, 1)])
    await add_event(session, "decided", words, job_id, decision.item_id)


def _kept(decision: ReviewDecision) -> dict[str, Any]:
    return fitting(
        item_id=decision.item_id,
        move=decision.move,
        candidate=decision.candidate,
        by=decision.by,
        reason=decision.reason,
    )


async def _was_committed(session: PostgresSession, decision: ReviewDecision, epoch: int) -> bool:
    """True if a try that was cut off was committed."""
    found = await session.rows("decision", item_id=decision.item_id, epoch=epoch)
    kept = _kept(decision)
    return found == [(kept["move"], kept["candidate"], kept["by"])]


async def _keep_choice(
    session: PostgresSession, item: dict[str, Any], decision: ReviewDecision
) -> str | None:
    if decision.candidate is None:
        return None
    result = chosen_result(item["result"], decision.candidate)
    await session.change("insert_columns", job_id=item["job_id"], names=text_array(list(result)))
    return as_json(result)
