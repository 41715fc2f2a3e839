"""Failures of a job, grouped by what they say."""

from fastapi import APIRouter

from headgate.app.api.asking import OwnJob
from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.office import AtOffice
from headgate.app.api.problems import documented
from headgate.app.api.wire import Identifier, Wire
from headgate.core.redact_text import redacted

router = APIRouter(prefix="/api/jobs", tags=["jobs"], route_class=BoundedRoute)


class Example(Wire):
    """One of a group."""

    item_id: Identifier
    reason: str


class ErrorGroupView(Wire):
    """Failures that say the same but for numbers, names and addresses."""

    signature: str
    error_class: str
    count: int
    example: Example


class ErrorGroups(Wire):
    """All groups, the largest first."""

    items: list[ErrorGroupView]


@router.get("/{jobId}/errors", responses=documented())
async def ls(job: OwnJob, office: AtOffice) -> ErrorGroups:
    """Group a job's failures by signature."""
    groups = await office.store.reads.error_groups(job.id)
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
