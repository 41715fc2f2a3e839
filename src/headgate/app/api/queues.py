"""Open queues: jobs that receive items over time, by name."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from pydantic import Field

from headgate.app.address_check import require_public
from headgate.app.api.bodies import MB, BoundedRoute, body_of, takes
from headgate.app.api.handlers import require_handler
from headgate.app.api.identity import CurrentUser, Principal, Writer
from headgate.app.api.job_request import parsed
from headgate.app.api.models import RequestModel
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.state import AppState, State
from headgate.app.schema_values import job_response
from headgate.core.errors import UnknownJob
from headgate.core.job import Job, OwnerCaps
from headgate.core.sizing import IngestSizer
from headgate.engine.job_control import JobControl
from headgate.engine.queues import QueueRow, Queues, QueueWriter, Viewer, names_in_queue
from headgate.schema.jobs import FedView, JobResponse
from headgate.schema.values import Listed

router = APIRouter(prefix="/api/queues", tags=["queues"], route_class=BoundedRoute)

Name = Annotated[
    str,
    Path(max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$", description="The name of a queue."),
]
Line = Annotated[int, Field(ge=0, le=2**53)]


class RowsRequest(RequestModel):
    items: list[dict[str, Any]]
    handler: str | None = Field(
        None, max_length=200, description="Required to create the queue; stored with it."
    )
    key: list[str] = Field(
        default_factory=list,
        max_length=20,
        description="Fields that identify an item; default: its whole content.",
    )
    lines: list[Line] | None = Field(None, description="Line of each item in its file.")
    problems: list[str | None] | None = Field(
        None, description="Why each item is invalid: it is stored as ERROR; null: it is valid."
    )

    def rows(self) -> list[QueueRow]:
        count = len(self.items)
        lines = range(1, count + 1) if self.lines is None else self.lines
        problems = [None] * count if self.problems is None else self.problems
        if not len(lines) == len(problems) == count:
            raise ProblemResponse(
                422, "`lines` and `problems` need one entry for each of the `items`"
            )
        return [*map(QueueRow, lines, self.items, problems)]


@router.get("", responses=documented())
async def ls(who: CurrentUser, app_state: State) -> Listed[JobResponse]:
    """List open queues, oldest first."""
    jobs = await _queues(app_state, who).all()
    return Listed(items=[await _view(app_state, job) for job in jobs])


@router.get("/{name}", responses=documented())
async def show(name: Name, who: CurrentUser, app_state: State) -> JobResponse:
    """Show a queue with its counters."""
    return await _view(app_state, await _found(app_state, who, name))


@router.post(
    "/{name}/items",
    responses=documented(413),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": RowsRequest.model_json_schema(
                        ref_template="#/components/schemas/{model}"
                    )
                }
            },
        }
    },
)
@takes(16 * MB, values=1_000_000)
async def feed(name: Name, request: Request, who: Writer, app_state: State) -> FedView:
    """Add items to a queue, without the ones it has already. The first request creates it."""
    body, most = await body_of(request, who.name), app_state.settings.server.inline_items
    asked = await app_state.threads.bodies.run(parsed, RowsRequest, body, most)
    rows = asked.rows()
    handler = _handler(app_state, asked.handler) if asked.handler is not None else None
    job = await _fed(app_state, who, name, handler, asked.key)
    sizer, cap = (
        IngestSizer(app_state.settings.ingest),
        app_state.settings.server.open_items_per_user,
    )
    names = names_in_queue(job, asked.key)
    queue_write = QueueWriter(app_state.store, job.id, names, sizer, app_state.clock, cap)
    for row in rows:
        await queue_write.add(row)
    await queue_write.flush()
    report = queue_write.report
    return FedView(
        job_id=str(job.id),
        added=report.added,
        known=report.known,
        bad=report.bad,
        problems=report.problems,
    )


def _handler(app_state: AppState, name: str) -> str:
    handler = require_handler(app_state, name)
    require_public(handler, allow_private=app_state.settings.net.allow_private)
    return handler.name


@router.post("/{name}/close", responses=documented(409))
async def close(name: Name, who: Writer, app_state: State) -> JobResponse:
    """Close a queue. The job is DONE once the queue is empty."""
    job = await _found(app_state, who, name)
    return await _view(app_state, await JobControl(app_state.store).close(job.id, who.name))


def _queues(app_state: AppState, who: Principal) -> Queues:
    policy = app_state.settings.server
    caps = OwnerCaps(policy.unfinished_jobs_per_user, policy.open_items_per_user)
    return Queues(app_state.store, Viewer(who.name, who.sees, caps))


async def _fed(
    app_state: AppState, who: Principal, name: str, handler: str | None, key: Sequence[str]
) -> Job:
    queues = _queues(app_state, who)
    if handler is None and await queues.find(name) is None:
        raise ProblemResponse(422, f"queue {name!r} is new; name its handler in `handler`")
    return await queues.get_or_make(name, handler, key)


async def _found(app_state: AppState, who: Principal, name: str) -> Job:
    job = await _queues(app_state, who).find(name)
    if job is None:
        raise UnknownJob(f"open queue {name!r} not found; the first items with a handler create it")
    return job


async def _view(app_state: AppState, job: Job) -> JobResponse:
    return job_response(job, await app_state.store.reads.counts(job.id))
