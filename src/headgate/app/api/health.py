"""Whether the service is well: not only that a process lives, but that items move."""

from fastapi import APIRouter, Response

from headgate import __version__
from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.models import ResponseModel
from headgate.app.api.state import State

router = APIRouter(tags=["health"], route_class=BoundedRoute)


class HealthView(ResponseModel):
    """How the service is."""

    status: str
    """`ok`, or what is wrong: `store`, `not running`, `no workers`, `stalled`, `slow`."""
    version: str
    store: bool
    workers: int
    claimable: bool
    """Something could be claimed now."""
    moving: bool
    """Nothing waits, or something was claimed or finished within the last minute."""
    slow_jobs: int
    """Jobs that have had work to do for 30 s and did less than 5 % of what they could."""
    not_running: list[str]
    """Parts of the server that gave no sign of life for too long: `file worker`, `supervisor`…"""


@router.get("/healthz", responses={503: {"model": HealthView}})
async def healthz(app_state: State, response: Response) -> HealthView:
    """Whether the service works: its parts run, the store answers, and jobs are not held up."""
    return _answered(app_state, response, ready=False)


@router.get("/readyz", responses={503: {"model": HealthView}})
async def readyz(app_state: State, response: Response) -> HealthView:
    """Whether to send work here: healthy, and at least one worker is there."""
    return _answered(app_state, response, ready=True)


def _answered(app_state: State, response: Response, *, ready: bool) -> HealthView:
    health = app_state.monitor.health
    silent = app_state.loops.silent()
    status = "ok"
    if not health.store:
        status = "store"
    elif silent:
        status = "not running"
    elif not health.moving:
        status = "stalled"
    elif not health.workers and (ready or health.claimable):
        status = "no workers"
    elif health.slow and not ready:
        status = "slow"
    if status != "ok":
        response.status_code = 503
    return HealthView(
        status=status,
        version=__version__,
        store=health.store,
        workers=health.workers,
        claimable=health.claimable,
        moving=health.moving,
        slow_jobs=len(health.slow),
        not_running=silent,
    )
