"""Reprocessing of finished items, of one job or across jobs: all that match, not one page."""

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import Field

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.dead_letters import numbers_in
from headgate.app.api.identity import Writer
from headgate.app.api.models import RequestModel
from headgate.app.api.params import OwnJob, error_class_in, job_named, moment_in, number_in
from headgate.app.api.pending import owner_meant, require_switched_on
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.state import State
from headgate.core.status import FINISHED, ItemStatus
from headgate.engine.job_control import DeadLetters, JobControl, ReplaySelection
from headgate.ports.items import RequeueRequest
from headgate.schema.items import Replayed
from headgate.schema.jobs import Reprocessed

router = APIRouter(prefix="/api/jobs", tags=["jobs"], route_class=BoundedRoute)
across = APIRouter(prefix="/api/pending", tags=["items"], route_class=BoundedRoute)

MOST_ITEMS = 10_000


class ReprocessFilter(RequestModel):
    """Further conditions on the items."""

    q: str | None = Field(None, max_length=200, description="Text in the key or the summary.")
    signature: str | None = Field(None, max_length=400, description="Signature of an error group.")


class ReprocessRequest(RequestModel):
    scope: Literal["job", "items"] = "job"
    item_ids: list[str] | None = Field(default=None, max_length=MOST_ITEMS)
    except_ids: list[str] = Field(
        default=[], max_length=MOST_ITEMS, description="Items to leave out."
    )
    statuses: list[Annotated[ItemStatus, Field(strict=False)]] | None = Field(
        default=None, description="Default: ERROR and NOT_FOUND."
    )
    error_class: str | None = Field(default=None, max_length=100)
    filter: ReprocessFilter | None = None
    reset_attempts: bool = Field(
        default=False,
        description="Reset the attempt count; also retries items that reached the limit.",
    )
    dry_run: bool = Field(default=False, description="Only count.")


@router.post("/{jobId}/reprocess", responses=documented(409))
async def reprocess(
    job: OwnJob, who: Writer, app_state: State, asked: ReprocessRequest | None = None
) -> Reprocessed:
    """Move finished items back to PENDING. The count includes every item that matched."""
    request = request_of(job.id, asked or ReprocessRequest(), app_state)
    control = JobControl(app_state.store)
    dry = asked is not None and asked.dry_run
    if dry:
        count = await control.would_reprocess(request)
    else:
        count = await control.reprocess(request, who.name)
    return Reprocessed(job_id=str(job.id), count=count)


def request_of(job_id: int, asked: ReprocessRequest, app_state: State) -> RequeueRequest:
    """Build the store's request. By default it leaves out items that reached the attempt limit."""
    ids = _ids(asked)
    wanted = frozenset(asked.statuses or ())
    if not wanted <= FINISHED:
        raise ProblemResponse(
            422, "only finished items can be reprocessed, not PENDING or PROCESSING ones"
        )
    default = FINISHED if ids is not None else RequeueRequest(job_id).statuses
    cap = app_state.settings.retry.max_attempts_ever
    return RequeueRequest(
        job_id=job_id,
        statuses=wanted or default,
        error_class=error_class_in(asked.error_class),
        signature=asked.filter.signature if asked.filter else None,
        text=(asked.filter.q or None) if asked.filter else None,
        below_attempts=None if asked.reset_attempts or ids is not None else cap,
        ids=ids,
        but_ids=_numbers(asked.except_ids),
        reset_attempts=asked.reset_attempts,
    )


def _ids(asked: ReprocessRequest) -> tuple[int, ...] | None:
    if asked.scope == "job":
        if asked.item_ids is not None:
            raise ProblemResponse(422, "`itemIds` can only be used with scope `items`")
        return None
    if not asked.item_ids:
        raise ProblemResponse(422, "scope `items` needs `itemIds`")
    return _numbers(asked.item_ids)


def _numbers(texts: list[str]) -> tuple[int, ...]:
    numbers = [number_in(text) if text else None for text in texts]
    return tuple(number for number in numbers if number is not None)


Moment = Annotated[
    str,
    Field(max_length=40, description="ISO 8601.", json_schema_extra={"format": "date-time"}),
]


class AcrossRequest(RequestModel):
    """All items that `GET /api/pending` lists with the same filter."""

    statuses: list[Annotated[ItemStatus, Field(strict=False)]] = Field(min_length=1)
    user_id: Literal["me", "all"] = "me"
    job_type: str | None = Field(None, max_length=200)
    job_id: str | None = Field(None, max_length=40)
    since: Moment | None = Field(None, alias="from")
    until: Moment | None = Field(None, alias="to")
    except_ids: list[str] = Field(default=[], max_length=10_000, description="Items to leave out.")
    reset_attempts: bool = False
    dry_run: bool = Field(default=False, description="Only count.")


@across.post("/reprocess", responses=documented(409))
async def reprocess_across(asked: AcrossRequest, who: Writer, app_state: State) -> Replayed:
    """Move finished items of all jobs back to PENDING. The count includes every match."""
    require_switched_on(app_state)
    statuses = frozenset(asked.statuses)
    if not statuses <= FINISHED:
        raise ProblemResponse(
            422, "only finished items can be reprocessed, not PENDING or PROCESSING ones"
        )
    owner = owner_meant(who, asked.user_id)
    what = ReplaySelection(
        job_id=await job_named(app_state, owner, asked.job_id),
        handler=asked.job_type,
        statuses=statuses,
        changed_from=moment_in(asked.since, "from"),
        changed_to=moment_in(asked.until, "to"),
        but_ids=numbers_in(asked.except_ids),
        reset_attempts=asked.reset_attempts,
    )
    done = await DeadLetters(app_state.store, owner).replay(
        what, dry_run=asked.dry_run, by=who.name
    )
    return Replayed(count=done.count, job_ids=[str(job_id) for job_id in done.jobs])
