"""Dead letters: what ended in ERROR, across jobs."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from headgate.app.api.asking import After, KeysetOnly, PageSize, number_in
from headgate.app.api.identity import Principal, Someone, Writer
from headgate.app.api.item_view import ItemPage
from headgate.app.api.items import ErrorClass, page_view
from headgate.app.api.office import AtOffice, Office
from headgate.app.api.problems import Refusal, documented
from headgate.app.api.wire import Asked, Identifier, Wire
from headgate.core.errors import UnknownItem, UnknownJob
from headgate.core.paging import Order
from headgate.core.status import ItemStatus
from headgate.engine.steering import Steering
from headgate.ports.items import RequeueRequest
from headgate.ports.reads import ItemQuery, JobQuery

router = APIRouter(prefix="/api/dead-letters", tags=["dead letters"])

DEAD = frozenset({ItemStatus.ERROR})
JobType = Annotated[str | None, Query(alias="jobType", max_length=200)]


@router.get("", responses=documented(), dependencies=[KeysetOnly])
async def ls(
    who: Someone,
    office: AtOffice,
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
        error_class=error_class,
        order=Order.UPDATED,
        after=after,
        limit=page_size,
        tail=True,
    )
    return page_view(await office.store.reads.items(query))


class ReplayAsked(Asked):
    """Which dead letters: some by id, those of a job, or all that match."""

    item_ids: list[str] | None = Field(None, max_length=10_000)
    job_id: str | None = None
    everything: bool = Field(default=False, alias="all")
    error_class: str | None = Field(None, max_length=100)
    reset_attempts: bool = False
    dry_run: bool = False


class Replayed(Wire):
    """How many were brought back, and in which jobs."""

    count: int
    job_ids: list[Identifier]


@router.post("/replay", responses=documented(409))
async def replay(asked: ReplayAsked, who: Writer, office: AtOffice) -> Replayed:
    """Bring dead letters back to PENDING."""
    if sum((asked.item_ids is not None, asked.job_id is not None, asked.everything)) != 1:
        raise Refusal(422, "say what to replay: `itemIds`, `jobId` or `all`")
    steering = Steering(office.store)
    count = 0
    targets = await _targets(office, who, asked)
    for job_id, ids in targets:
        request = RequeueRequest(
            job_id,
            DEAD,
            error_class=asked.error_class,
            ids=ids,
            reset_attempts=asked.reset_attempts,
        )
        if asked.dry_run:
            count += await steering.would_reprocess(request)
        else:
            count += await steering.reprocess(request, who.name)
    return Replayed(count=count, job_ids=[str(job_id) for job_id, _ in targets])


async def _targets(
    office: Office, who: Principal, asked: ReplayAsked
) -> list[tuple[int, tuple[int, ...] | None]]:
    """The jobs to replay in, each with the items, or None for all of its dead letters."""
    if asked.item_ids is not None:
        return await _by_item(office, who, asked.item_ids)
    if asked.job_id is not None:
        number = number_in(asked.job_id) if asked.job_id else None
        if number is None:
            raise UnknownJob(f"there is no job {asked.job_id[:40]!r}")
        return [((await office.store.reads.job(number, who.sees)).id, None)]
    return [(job_id, None) for job_id in await _jobs_with_errors(office, who)]


async def _by_item(
    office: Office, who: Principal, texts: list[str]
) -> list[tuple[int, tuple[int, ...] | None]]:
    by_job: dict[int, list[int]] = {}
    for text in texts:
        number = number_in(text) if text else None
        if number is None:
            raise UnknownItem(f"there is no item {text[:40]!r}")
        row = (await office.store.reads.item(number, who.sees)).row
        by_job.setdefault(row.job_id, []).append(row.id)
    return [(job_id, tuple(ids)) for job_id, ids in by_job.items()]


async def _jobs_with_errors(office: Office, who: Principal) -> list[int]:
    reads = office.store.reads
    found: list[int] = []
    after_id = 0
    while jobs := await reads.jobs(JobQuery(owner=who.sees, after_id=after_id, limit=500)):
        found += [job.id for job in jobs if (await reads.counts(job.id)).error]
        after_id = jobs[-1].id
    return found
