"""`POST /api/ingestion/scan`: looks for new files in the configured places."""

from fastapi import APIRouter

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import Admin
from headgate.app.api.models import Identifier, ResponseModel
from headgate.app.api.problems import documented
from headgate.app.api.state import State

router = APIRouter(prefix="/api/ingestion", tags=["jobs"], route_class=BoundedRoute)


class Arrived(ResponseModel):
    source: str
    job_id: Identifier


class Scanned(ResponseModel):
    """Result of a scan of all places."""

    jobs: list[Arrived]
    known: int
    """Files that already have a job."""
    problems: list[str]
    """Places that could not be read, and why."""


@router.post("/scan", responses=documented())
async def scan(who: Admin, app_state: State) -> Scanned:
    """Look for new files and create one job for each. A file is used once."""
    found = await app_state.scanner.scan(settle=True)
    return Scanned(
        jobs=[Arrived(source=source, job_id=str(job_id)) for source, job_id in found.made],
        known=found.known,
        problems=list(found.problems),
    )
