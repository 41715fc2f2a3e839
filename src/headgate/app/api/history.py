"""`GET /api/jobs/{jobId}/history`: progress and rates of a job over time."""

from fastapi import APIRouter

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.history_samples import GatePoint, JobPoint
from headgate.app.api.job_view import CountsView, counts_view
from headgate.app.api.models import Moment, ResponseModel
from headgate.app.api.params import OwnJob
from headgate.app.api.problems import documented
from headgate.app.api.state import State
from headgate.core.time_text import moment

router = APIRouter(prefix="/api/jobs", tags=["jobs"], route_class=BoundedRoute)


class GatePointView(ResponseModel):
    """The rate of a gate and the responses of its provider at one time."""

    name: str
    now_per_s: float | None
    latency_s: float | None
    refused_share: float
    in_flight: int


class ReadingView(ResponseModel):
    at: Moment
    counts: CountsView
    gates: list[GatePointView]


class History(ResponseModel):
    """Readings, oldest first. The interval between them grows with the length of the job."""

    items: list[ReadingView]


@router.get("/{jobId}/history", responses=documented())
async def ls(job: OwnJob, app_state: State) -> History:
    """Return the readings that this server took. They are lost at a restart."""
    return History(
        items=[reading_view(reading) for reading in app_state.history_samples.of(job.id)]
    )


def reading_view(reading: JobPoint) -> ReadingView:
    return ReadingView(
        at=moment(reading.at_us),
        counts=counts_view(reading.counts),
        gates=[_point(point) for point in reading.gates],
    )


def _point(point: GatePoint) -> GatePointView:
    names = GatePointView.model_fields
    return GatePointView(**{name: getattr(point, name) for name in names})
