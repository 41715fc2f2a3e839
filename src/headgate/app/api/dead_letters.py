"""Dead letters: items in ERROR, across jobs."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import CurrentUser, Writer
from headgate.app.api.items import ErrorClass
from headgate.app.api.models import RequestModel
from headgate.app.api.params import (
    After,
    KeysetOnly,
    PageSize,
    error_class_in,
    job_named,
    number_in,
)
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.state import State
from headgate.app.schema_values import page_view
from headgate.core.errors import UnknownItem
from headgate.core.paging import SortOrder
from headgate.engine.job_control import DEAD, DeadLetters, ReplaySelection
from headgate.ports.reads import ItemQuery
from headgate.schema.items import DeadOfJobView, DeadTotals, ItemView, Replayed
from headgate.schema.values import Page

router = APIRouter(prefix="/api/dead-letters", tags=["dead letters"], route_class=BoundedRoute)

JobType = Annotated[str | None, Query(alias="jobType", max_length=200)]


@router.get("", responses=documented(), dependencies=[KeysetOnly])
async def ls(
    who: CurrentUser,
    app_state: State,
    error_class: ErrorClass = None,
    job_type: JobType = None,
    page_size: PageSize = 100,
    after: After = None,
) -> Page[ItemView]:
    """List dead letters, oldest failure first."""
    query = ItemQuery(
        job_id=None,
        statuses=DEAD,
        owner=who.sees,
        handler=job_type,
        error_class=error_class_in(error_class),
        order=SortOrder.UPDATED,
        after=after,
        limit=page_size,
        tail=True,
    )
    return page_view(await app_state.store.reads.items(query))


@router.get("/jobs", responses=documented())
async def totals(
    who: CurrentUser, app_state: State, error_class: ErrorClass = None, job_type: JobType = None
) -> DeadTotals:
    """Count the dead letters of each job."""
    jobs, whole = await DeadLetters(app_state.store, who.sees).counted(job_type, error_class)
    return DeadTotals(
        count=sum(each.count for each in jobs),
        whole=whole,
        jobs=[
            DeadOfJobView(job_id=str(each.job_id), name=each.name, count=each.count)
            for each in jobs
        ],
    )


class ReplayRequest(RequestModel):
    """Selects dead letters by id, by job, or all that match."""

    item_ids: list[str] | None = Field(None, max_length=10_000)
    job_id: str | None = None
    everything: bool = Field(default=False, alias="all")
    job_type: str | None = Field(None, max_length=200, description="Only with `all`.")
    except_ids: list[str] = Field(default=[], max_length=10_000, description="Items to leave out.")
    error_class: str | None = Field(None, max_length=100)
    reset_attempts: bool = False
    dry_run: bool = False


@router.post("/replay", responses=documented(409))
async def replay(asked: ReplayRequest, who: Writer, app_state: State) -> Replayed:
    """Move dead letters back to PENDING."""
    if sum((asked.item_ids is not None, asked.job_id is not None, asked.everything)) != 1:
        raise ProblemResponse(422, "name exactly one of `itemIds`, `jobId` and `all`")
    if asked.job_type is not None and not asked.everything:
        raise ProblemResponse(422, "`jobType` can only be used with `all`")
    what = ReplaySelection(
        ids=None if asked.item_ids is None else numbers_in(asked.item_ids),
        job_id=await job_named(app_state, who.sees, asked.job_id),
        handler=asked.job_type,
        but_ids=numbers_in(asked.except_ids),
        error_class=error_class_in(asked.error_class),
        reset_attempts=asked.reset_attempts,
    )
    letters = DeadLetters(app_state.store, who.sees)
    done = await letters.replay(what, dry_run=asked.dry_run, by=who.name)
    return Replayed(count=done.count, job_ids=[str(job_id) for job_id in done.jobs])


def numbers_in(texts: list[str]) -> tuple[int, ...]:
    numbers = [number_in(text) if text else None for text in texts]
    if None in numbers:
        raise UnknownItem(f"item {texts[numbers.index(None)][:40]!r} not found")
    return tuple(number for number in numbers if number is not None)
