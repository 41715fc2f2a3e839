"""Dead letters: what ended in ERROR, across jobs."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import Someone, Writer
from headgate.app.api.item_view import ItemPage
from headgate.app.api.items import ErrorClass, page_view
from headgate.app.api.models import Identifier, RequestModel, ResponseModel
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
from headgate.core.errors import UnknownItem
from headgate.core.paging import SortOrder
from headgate.engine.job_control import DEAD, DeadLetters, Replay
from headgate.ports.reads import ItemQuery

router = APIRouter(prefix="/api/dead-letters", tags=["dead letters"], route_class=BoundedRoute)

JobType = Annotated[str | None, Query(alias="jobType", max_length=200)]


@router.get("", responses=documented(), dependencies=[KeysetOnly])
async def ls(
    who: Someone,
    app_state: State,
    error_class: ErrorClass = None,
    job_type: JobType = None,
    page_size: PageSize = 100,
    after: After = None,
) -> ItemPage:
    """List dead letters, the longest dead first."""
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


class DeadOfJobView(ResponseModel):
    """A job with dead letters."""

    job_id: Identifier
    name: str
    count: int


class DeadTotals(ResponseModel):
    """How many dead letters there are, and in which jobs, newest first."""

    count: int
    whole: bool
    """Every job was counted: of very many, only the newest are."""
    jobs: list[DeadOfJobView]


@router.get("/jobs", responses=documented())
async def totals(
    who: Someone, app_state: State, error_class: ErrorClass = None, job_type: JobType = None
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
    """Which dead letters: some by id, those of a job, or all that match."""

    item_ids: list[str] | None = Field(None, max_length=10_000)
    job_id: str | None = None
    everything: bool = Field(default=False, alias="all")
    job_type: str | None = Field(None, max_length=200, description="Goes with `all`.")
    except_ids: list[str] = Field(
        default=[], max_length=10_000, description="All that match but these."
    )
    error_class: str | None = Field(None, max_length=100)
    reset_attempts: bool = False
    dry_run: bool = False


class Replayed(ResponseModel):
    """How many were brought back, and in which jobs."""

    count: int
    job_ids: list[Identifier]


@router.post("/replay", responses=documented(409))
async def replay(asked: ReplayRequest, who: Writer, app_state: State) -> Replayed:
    """Bring dead letters back to PENDING."""
    if sum((asked.item_ids is not None, asked.job_id is not None, asked.everything)) != 1:
        raise ProblemResponse(422, "say what to replay: `itemIds`, `jobId` or `all`")
    if asked.job_type is not None and not asked.everything:
        raise ProblemResponse(422, "`jobType` goes with `all`")
    what = Replay(
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
    """The numbers of items; each must be one."""
    numbers = [number_in(text) if text else None for text in texts]
    if None in numbers:
        raise UnknownItem(f"there is no item {texts[numbers.index(None)][:40]!r}")
    return tuple(number for number in numbers if number is not None)
