"""`/healthz` and `/readyz`: whether the store answers, the parts run and items move."""

from fastapi import APIRouter, Response

from headgate import __version__
from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.models import ResponseModel
from headgate.app.api.state import State

router = APIRouter(tags=["health"], route_class=BoundedRoute)


class HealthView(ResponseModel):
    status: str
    """`ok`, or the problem: `store`, `not running`, `no workers`, `stalled` or `slow`."""
    version: str
    store: bool
    workers: int
    claimable: bool
    """True if at least one item can be claimed now."""
    moving: bool
    """True if nothing waits, or an item was claimed or finished within the last minute."""
    slow_jobs: int
    """Jobs that had work for 30 s and ran below 5 % of their possible rate."""
    not_running: list[str]
    """Parts of the server without a sign of life for too long: `file worker`, `supervisor`…"""


@router.get("/healthz", responses={503: {"model": HealthView}})
async def healthz(app_state: State, response: Response) -> HealthView:
    """Report whether the service works: its parts run, the store answers, jobs progress."""
    return _answered(app_state, response, ready=False)


@router.get("/readyz", responses={503: {"model": HealthView}})
async def readyz(app_state: State, response: Response) -> HealthView:
    """Report whether to send work here: the service is healthy and has at least one worker."""
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
