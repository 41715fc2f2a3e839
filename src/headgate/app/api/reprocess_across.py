"""Reprocessing of finished items across jobs, with the filter of `GET /api/pending`."""

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import Field

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.dead_letters import Replayed, numbers_in
from headgate.app.api.identity import Writer
from headgate.app.api.models import RequestModel
from headgate.app.api.params import job_named, moment_in
from headgate.app.api.pending import owner_meant, require_switched_on
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.state import State
from headgate.core.status import FINISHED, ItemStatus
from headgate.engine.job_control import DeadLetters, Replay

router = APIRouter(prefix="/api/pending", tags=["items"], route_class=BoundedRoute)

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


@router.post("/reprocess", responses=documented(409))
async def reprocess(asked: AcrossRequest, who: Writer, app_state: State) -> Replayed:
    """Move finished items of all jobs back to PENDING. The count includes every match."""
    require_switched_on(app_state)
    statuses = frozenset(asked.statuses)
    if not statuses <= FINISHED:
        raise ProblemResponse(
            422, "only finished items can be reprocessed, not PENDING or PROCESSING ones"
        )
    owner = owner_meant(who, asked.user_id)
    what = Replay(
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
