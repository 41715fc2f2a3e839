"""Changes items in bounded steps: reprocessing, and decisions of reviews."""

from collections import Counter
from typing import Any

from headgate.core.errors import UnknownItem, UnknownJob
from headgate.core.review import chosen_result, require_decision, told
from headgate.core.status import ItemStatus, JobState, item_after
from headgate.ports.items import RequeueRequest, ReviewDecision, SweptItems
from headgate.stores.listing import WINDOW, kind_filter, patterns
from headgate.stores.sqlite.connection import Transaction
from headgate.stores.sqlite.records import add_counts, add_event, as_json


def requeue(tx: Transaction, request: RequeueRequest) -> SweptItems:
    """Requeue the matching items of the next step, and reopen the job."""
    found, swept = _step(tx, request)
    if found:
        ids = as_json([row[0] for row in found])
        tx.change("requeue_items", ids=ids, reset_attempts=request.reset_attempts)
        left = Counter(row[1] for row in found)
        if ItemStatus.DONE in left:
            tx.change("delete_reusable", ids=ids)
        add_counts(tx, [(request.job_id, status, -n) for status, n in left.items()])
        add_counts(tx, [(request.job_id, ItemStatus.PENDING, len(found))])
        _reopen(tx, request.job_id)
    return swept


def would_requeue(tx: Transaction, request: RequeueRequest) -> SweptItems:
    """Count what such a step would requeue."""
    return _step(tx, request)[1]


def _step(tx: Transaction, request: RequeueRequest) -> tuple[list[Any], SweptItems]:
    if tx.record("job", job_id=request.job_id) is None:
        raise UnknownJob(f"job {request.job_id} does not exist")
    place = {"job_id": request.job_id, "after_id": request.after_id}
    # Items named by ids are few; others may be anywhere in a long job.
    end = None if request.ids is not None else tx.row("window_in_order", rows=WINDOW, **place)
    last_id = end[0] if end else None
    found = tx.rows(
        "select_requeue",
        **place,
        last_id=last_id,
        statuses=as_json(sorted(request.statuses)),
        error_class=request.error_class,
        but_class=request.but_class,
        **kind_filter(request.signature),
        below_attempts=request.below_attempts,
        changed_from=request.changed_from,
        changed_to=request.changed_to,
        ids=None if request.ids is None else as_json(request.ids),
        but_ids=as_json(request.but_ids),
        limit=request.limit,
        **patterns(request.text),
    )
    more = len(found) == request.limit
    return found, SweptItems(len(found), found[-1][0] if more else last_id)


def _reopen(tx: Transaction, job_id: int) -> None:
    job = tx.record("job", job_id=job_id)
    if job is None or job["state"] not in {"DONE", "FAILED", "CANCELLED"}:
        return
    tx.records(
        "move_job",
        job_id=job_id,
        source=job["state"],
        target=JobState.QUEUED,
        reason="",
        resume_us=None,
    )
    add_event(tx, "job_state", f"{job['state']} → QUEUED: reprocess", job_id)


def decide(tx: Transaction, decision: ReviewDecision) -> None:
    """Move the item, store the decision, and count."""
    require_decision(decision.move, decision.candidate)
    item = tx.record("item", item_id=decision.item_id)
    if item is None or decision.owner not in {None, item["owner"]}:
        raise UnknownItem(f"item {decision.item_id} does not exist")
    target = item_after(decision.move, ItemStatus(item["status"]))
    words = told(decision.move, decision.candidate, decision.by, decision.reason)
    accepted = decision.candidate is not None
    tx.change(
        "decide_item",
        item_id=decision.item_id,
        status=target,
        result=_keep_choice(tx, item["job_id"], item["result"], decision),
        reason=None if accepted else words,
    )
    tx.change(
        "insert_decision",
        item_id=decision.item_id,
        epoch=item["epoch"],
        move=decision.move,
        candidate=decision.candidate,
        by=decision.by,
        reason=decision.reason,
    )
    add_counts(tx, [(item["job_id"], ItemStatus.REVIEW, -1), (item["job_id"], target, 1)])
    add_event(tx, "decided", words, item["job_id"], decision.item_id)


def _keep_choice(tx: Transaction, job_id: int, stored: str, decision: ReviewDecision) -> str | None:
    if decision.candidate is None:
        return None
    result = chosen_result(stored, decision.candidate)
    tx.change("insert_columns", job_id=job_id, names=as_json(list(result)))
    return as_json(result)
