"""Bringing finished items back: everything that matches, not a page of it."""

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import Field

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import Writer
from headgate.app.api.models import Identifier, RequestModel, ResponseModel
from headgate.app.api.params import OwnJob, error_class_in, number_in
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.state import State
from headgate.core.status import FINISHED, ItemStatus
from headgate.engine.job_control import JobControl
from headgate.ports.items import RequeueRequest

router = APIRouter(prefix="/api/jobs", tags=["jobs"], route_class=BoundedRoute)

MOST_ITEMS = 10_000


class Filter(RequestModel):
    """Which items, beside statuses and error class."""

    q: str | None = Field(None, max_length=200, description="In the key or the summary.")
    signature: str | None = Field(None, max_length=400, description="A kind of failure.")


class ReprocessRequest(RequestModel):
    """What to bring back."""

    scope: Literal["job", "items"] = "job"
    item_ids: list[str] | None = Field(default=None, max_length=MOST_ITEMS)
    except_ids: list[str] = Field(
        default=[], max_length=MOST_ITEMS, description="All that match but these."
    )
    statuses: list[Annotated[ItemStatus, Field(strict=False)]] | None = Field(
        default=None, description="ERROR and NOT_FOUND, unless told otherwise."
    )
    error_class: str | None = Field(default=None, max_length=100)
    filter: Filter | None = None
    reset_attempts: bool = Field(
        default=False,
        description="Begin to count anew; also brings back items that reached their cap.",
    )
    dry_run: bool = Field(default=False, description="Only count.")


class Reprocessed(ResponseModel):
    """What was brought back."""

    job_id: Identifier
    count: int


@router.post("/{jobId}/reprocess", responses=documented(409))
async def reprocess(
    job: OwnJob, who: Writer, app_state: State, asked: ReprocessRequest | None = None
) -> Reprocessed:
    """Bring finished items back to PENDING; the count is of everything that matched."""
    request = request_of(job.id, asked or ReprocessRequest(), app_state)
    control = JobControl(app_state.store)
    dry = asked is not None and asked.dry_run
    if dry:
        count = await control.would_reprocess(request)
    else:
        count = await control.reprocess(request, who.name)
    return Reprocessed(job_id=str(job.id), count=count)


def request_of(job_id: int, asked: ReprocessRequest, app_state: State) -> RequeueRequest:
    """The request to the store; items that were tried too often are left alone by default."""
    ids = _ids(asked)
    wanted = frozenset(asked.statuses or ())
    if not wanted <= FINISHED:
        raise ProblemResponse(
            422, "only finished items can be brought back; PENDING and PROCESSING are not"
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
            raise ProblemResponse(422, "`itemIds` go with scope `items`")
        return None
    if not asked.item_ids:
        raise ProblemResponse(422, "scope `items` needs `itemIds`")
    return _numbers(asked.item_ids)


def _numbers(texts: list[str]) -> tuple[int, ...]:
    numbers = [number_in(text) if text else None for text in texts]
    return tuple(number for number in numbers if number is not None)
