"""The gates that the requests of a job pass, for whoever may see the job."""

import msgspec
from fastapi import APIRouter

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import Someone
from headgate.app.api.params import OwnJob
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.providers import Gates, gates_view
from headgate.app.api.state import State
from headgate.core.user import Role
from headgate.engine.gate_control import GateReading

router = APIRouter(prefix="/api/jobs", tags=["jobs"], route_class=BoundedRoute)


@router.get("/{jobId}/gates", responses=documented(503))
async def ls(job: OwnJob, who: Someone, app_state: State) -> Gates:
    """List the gates that a job's requests pass; who else works there is for admins."""
    reading = await app_state.limit_cache.read(job.id)
    if reading is None:
        raise ProblemResponse(503, "the ledger of limits does not answer; ask again in a moment")
    if not who.may(Role.ADMIN):
        hidden = [msgspec.structs.replace(view, members={}) for view in reading.views]
        reading = GateReading(reading.now_s, hidden)
    return gates_view(reading)
