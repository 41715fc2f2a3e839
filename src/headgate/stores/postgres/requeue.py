"""Reprocessing: bounded steps over the items of a job."""

from collections import Counter

from headgate.core.errors import UnknownJob
from headgate.core.status import ItemStatus, JobMove, JobState
from headgate.ports.items import RequeueRequest, SweptItems
from headgate.stores.listing import WINDOW, kind_filter
from headgate.stores.matching import patterns
from headgate.stores.postgres.connection import Session
from headgate.stores.postgres.literals import number_array, text_array
from headgate.stores.postgres.records import add_counts, add_event


async def requeue(session: Session, request: RequeueRequest) -> SweptItems:
    """Bring back what matches in the next rows, and reopen the job."""
    job = await session.record("lock_job", job_id=request.job_id)
    if job is None:
        raise _unknown(request)
    found, next_after_id = await _step(session, request)
    moved = await _bring_back(session, request, found) if found else 0
    if moved:
        await _reopen(session, request.job_id, JobState(job["state"]))
    return SweptItems(moved, next_after_id)


async def would_requeue(session: Session, request: RequeueRequest) -> SweptItems:
    """What such a step would do."""
    if await session.record("job", job_id=request.job_id) is None:
        raise _unknown(request)
    found, next_after_id = await _step(session, request)
    return SweptItems(len(found), next_after_id)


def _unknown(request: RequeueRequest) -> UnknownJob:
    return UnknownJob(f"there is no job {request.job_id}")


async def _step(session: Session, request: RequeueRequest) -> tuple[list[int], int | None]:
    """The items that match in the next rows, and where the next step starts."""
    place = {"job_id": request.job_id, "after_id": request.after_id}
    last_id = None
    if request.ids is None:
        # Those that are named by their ids are few; others may be anywhere in a long job.
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


async def _bring_back(session: Session, request: RequeueRequest, found: list[int]) -> int:
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


async def _reopen(session: Session, job_id: int, state: JobState) -> None:
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
