"""`GET /api/jobs/{jobId}/errors`: the failures of a job, grouped by signature."""

from fastapi import APIRouter

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.models import Identifier, ResponseModel
from headgate.app.api.params import OwnJob
from headgate.app.api.problems import documented
from headgate.app.api.state import State
from headgate.core.redact_text import redacted

router = APIRouter(prefix="/api/jobs", tags=["jobs"], route_class=BoundedRoute)


class Example(ResponseModel):
    item_id: Identifier
    reason: str


class ErrorGroupView(ResponseModel):
    """Failures whose messages differ only in numbers, names and addresses."""

    signature: str
    error_class: str
    count: int
    example: Example


class ErrorGroups(ResponseModel):
    """Error groups, largest first."""

    items: list[ErrorGroupView]


@router.get("/{jobId}/errors", responses=documented())
async def ls(job: OwnJob, app_state: State) -> ErrorGroups:
    """Group the failures of a job by signature."""
    groups = await app_state.store.reads.error_groups(job.id)
    return ErrorGroups(
        items=[
            ErrorGroupView(
                signature=group.signature,
                error_class=group.error_class,
                count=group.count,
                example=Example(item_id=str(group.item_id), reason=redacted(group.reason)),
            )
            for group in groups
        ]
    )
