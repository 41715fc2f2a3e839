"""`GET /api/jobs/{jobId}/gates`: the gates that the requests of a job pass."""

import msgspec
from fastapi import APIRouter

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import CurrentUser
from headgate.app.api.params import OwnJob
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.providers import Gates, gates_view
from headgate.app.api.state import State
from headgate.core.user import Role
from headgate.engine.gate_control import GateReading

router = APIRouter(prefix="/api/jobs", tags=["jobs"], route_class=BoundedRoute)


@router.get("/{jobId}/gates", responses=documented(503))
async def ls(job: OwnJob, who: CurrentUser, app_state: State) -> Gates:
    """List the gates that the requests of a job pass. Only admins see the other processes there."""
    reading = await app_state.limit_cache.read(job.id)
    if reading is None:
        raise ProblemResponse(503, "the ledger of limits does not answer; try again in a moment")
    if not who.may(Role.ADMIN):
        hidden = [msgspec.structs.replace(view, members={}) for view in reading.views]
        reading = GateReading(reading.now_s, hidden)
    return gates_view(reading)
