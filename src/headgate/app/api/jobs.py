"""Jobs: list, show, control, delete, process a slice; their failures and their history."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Response
from msgspec.structs import asdict, replace
from pydantic import Field

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import CurrentUser, Writer
from headgate.app.api.job_readings import JobPoint
from headgate.app.api.models import RequestModel, Whole
from headgate.app.api.params import After, KeysetOnly, OwnJob, PageSize
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.state import AppState, State
from headgate.app.schema_values import (
    counts_view,
    error_group_view,
    eta_view,
    job_response,
    wait_view,
)
from headgate.core.job import Job
from headgate.core.paging import Cursor, SortOrder, decode_cursor, encode_cursor, filter_hash
from headgate.core.status import JobState
from headgate.core.time_text import moment
from headgate.engine.job_control import JobControl
from headgate.ports.reads import JobQuery
from headgate.schema.jobs import (
    ErrorGroupView,
    JobDetail,
    JobResponse,
    ReadingView,
    SliceDone,
)
from headgate.schema.values import Listed, Page

router = APIRouter(prefix="/api/jobs", tags=["jobs"], route_class=BoundedRoute)

States = Annotated[
    str | None,
    Query(max_length=200, description="Job states, separated by commas.", examples=["RUNNING"]),
]
Text = Annotated[
    str | None,
    Query(alias="q", max_length=200, description="Text in the name of the job or its file."),
]


@router.get("", responses=documented(), dependencies=[KeysetOnly])
async def ls(
    who: CurrentUser,
    app_state: State,
    states: States = None,
    handler: Annotated[str | None, Query(max_length=200)] = None,
    q: Text = None,
    page_size: PageSize = 50,
    after: After = None,
) -> Page[JobDetail]:
    """List jobs, newest first."""
    wanted = states_in(states)
    name = filter_hash(who.sees, sorted(wanted), handler, q)
    query = JobQuery(
        owner=who.sees,
        states=wanted,
        handler=handler,
        text=q or None,
        after_id=decode_cursor(after, SortOrder.INPUT, name).id if after else 0,
        limit=page_size,
        configs=False,
    )
    jobs = await app_state.store.reads.jobs(query)
    # Concurrently: in a busy event loop, sequential reads would each wait for their turn.
    views = await asyncio.gather(*(_listed(app_state, job) for job in jobs))
    more = len(jobs) == page_size
    following = encode_cursor(Cursor(SortOrder.INPUT, name, 0, jobs[-1].id)) if more else None
    return Page(items=views, next=following)


@router.get("/{jobId}", responses=documented())
async def show(job: OwnJob, app_state: State) -> JobDetail:
    """Show a job with its counters, rate, time left and what limits it."""
    return await job_detail(app_state, job)


@router.post("/{jobId}/pause", responses=documented(409))
async def pause(job: OwnJob, who: Writer, app_state: State) -> JobResponse:
    """Pause a job: no worker starts new items until it is resumed."""
    return await _view(app_state, await JobControl(app_state.store).pause(job.id, who.name))


@router.post("/{jobId}/resume", responses=documented(409))
async def resume(job: OwnJob, who: Writer, app_state: State) -> JobResponse:
    """Resume a paused job."""
    return await _view(app_state, await JobControl(app_state.store).resume(job.id, who.name))


@router.post("/{jobId}/cancel", responses=documented(409))
async def cancel(job: OwnJob, who: Writer, app_state: State) -> JobResponse:
    """Cancel a job. Finished items stay as they are; all others become CANCELLED."""
    return await _view(app_state, await JobControl(app_state.store).cancel(job.id, who.name))


class PriorityRequest(RequestModel):
    """Priority among the jobs of the same owner. Each step doubles the share."""

    priority: Whole = Field(ge=-10, le=10)


@router.post("/{jobId}/priority", responses=documented())
async def prioritise(
    job: OwnJob, asked: PriorityRequest, who: Writer, app_state: State
) -> JobResponse:
    """Change the priority of a job among the jobs of its owner."""
    control = JobControl(app_state.store)
    return await _view(app_state, await control.set_priority(job.id, asked.priority, who.name))


@router.delete("/{jobId}", status_code=204, responses=documented(409))
async def remove(job: OwnJob, who: Writer, app_state: State) -> Response:
    """Delete a job with its items, history and files. A running job is cancelled first."""
    await JobControl(app_state.store).remove(job.id, who.name)
    await asyncio.to_thread(app_state.folder.remove_job, job.id, job.source)
    return Response(status_code=204)


@router.post("/{jobId}/kickoff", responses=documented(409))
async def kickoff(
    job: OwnJob,
    who: Writer,
    app_state: State,
    duration_ms: Annotated[
        int, Query(alias="durationMs", ge=1, le=30_000, description="Duration of the slice.")
    ] = 5_000,
) -> SliceDone:
    """Work on a job for a short time in a separate worker process, and return what was done."""
    seconds = duration_ms / 1_000
    if seconds > app_state.settings.server.kickoff_s:
        most = app_state.settings.server.kickoff_s * 1_000
        raise ProblemResponse(422, f"a slice can take at most {most:.0f} ms here")
    began_s = app_state.clock.monotonic()
    report = await app_state.slices.run(job.id, who.name, seconds)
    counts = await app_state.store.reads.counts(job.id)
    return SliceDone(
        settled=report.settled,
        remaining=counts.open,
        more=counts.open > 0,
        duration_ms=(app_state.clock.monotonic() - began_s) * 1_000,
    )


@router.get("/{jobId}/errors", responses=documented())
async def errors(job: OwnJob, app_state: State) -> Listed[ErrorGroupView]:
    """Group the failures of a job by signature, largest first."""
    groups = await app_state.store.reads.error_groups(job.id)
    return Listed(items=[error_group_view(group) for group in groups])


@router.get("/{jobId}/history", responses=documented())
async def history(job: OwnJob, app_state: State) -> Listed[ReadingView]:
    """Return the readings that this server took, oldest first. They are lost at a restart."""
    return Listed(items=[reading_view(each) for each in app_state.history_samples.of(job.id)])


def reading_view(reading: JobPoint) -> ReadingView:
    return ReadingView(
        at=moment(reading.at_us),
        counts=counts_view(reading.counts),
        gates=[*reading.gates],
    )


def states_in(text: str | None) -> frozenset[JobState]:
    names = [part.strip().upper() for part in (text or "").split(",") if part.strip()]
    for name in names:
        if name not in JobState.__members__:
            raise ProblemResponse(
                422, f"unknown state {name!r}; the states are {', '.join(JobState)}"
            )
    return frozenset(JobState(name) for name in names)


async def _listed(app_state: AppState, job: Job) -> JobDetail:
    return replace(await job_detail(app_state, job), config=None)


async def _view(app_state: AppState, job: Job) -> JobResponse:
    return job_response(job, await app_state.store.reads.counts(job.id))


async def job_detail(app_state: AppState, job: Job) -> JobDetail:
    counts = await app_state.store.reads.counts(job.id)
    limit = await app_state.limit_cache.limit_of(job)
    return JobDetail(
        **asdict(job_response(job, counts)),
        rate=app_state.monitor.rate(job.id),
        eta=eta_view(app_state.monitor.eta(job, counts.open, limit)),
        limited_by=wait_view(limit.wait),
        heartbeat=moment(app_state.monitor.heartbeat),
    )
