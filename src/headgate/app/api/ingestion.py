"""Looking for new files in the places that are configured."""

from fastapi import APIRouter

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import Admin
from headgate.app.api.models import Identifier, ResponseModel
from headgate.app.api.problems import documented
from headgate.app.api.state import State

router = APIRouter(prefix="/api/ingestion", tags=["jobs"], route_class=BoundedRoute)


class Arrived(ResponseModel):
    """A file that became a job."""

    source: str
    job_id: Identifier


class Scanned(ResponseModel):
    """What a look at all places found."""

    jobs: list[Arrived]
    known: int
    """Files that were taken before."""
    problems: list[str]
    """Places that could not be looked at, and why."""


@router.post("/scan", responses=documented())
async def scan(who: Admin, app_state: State) -> Scanned:
    """Look for new files: one job for each, each file once."""
    found = await app_state.scanner.scan(settle=True)
    return Scanned(
        jobs=[Arrived(source=source, job_id=str(job_id)) for source, job_id in found.made],
        known=found.known,
        problems=list(found.problems),
    )
