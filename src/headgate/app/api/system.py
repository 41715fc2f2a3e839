"""`GET /api/system`: the database, the sweeper, the queue and the parts of the server."""

from fastapi import APIRouter

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import Admin
from headgate.app.api.job_view import CountsView, WaitView, counts_view, wait_view
from headgate.app.api.models import Identifier, Moment, ResponseModel
from headgate.app.api.problems import documented
from headgate.app.api.state import AppState, State
from headgate.app.loops import LoopState
from headgate.app.streams import LOST
from headgate.core.redact_values import without_secrets
from headgate.core.time_text import moment
from headgate.engine.sweeper import Sweeper
from headgate.ports.reads import StoreStatus

router = APIRouter(prefix="/api/system", tags=["health"], route_class=BoundedRoute)


class DatabaseView(ResponseModel):
    kind: str
    version: str
    location: str
    size_bytes: int
    schema_version: int
    latest_schema_version: int
    """The schema of this release. Differs if `headgate db migrate` is due."""
    jobs: int
    items: int


class SweeperView(ResponseModel):
    """The elected process that recovers stalled work and deletes old records."""

    holder: str | None
    """The elected supervisor; null if there is none."""
    until: Moment
    """End of the term, unless it is renewed."""
    retention_days: float
    """Older records are deleted."""


class QueueView(ResponseModel):
    """Work over all jobs."""

    counts: CountsView
    per_second: float
    """Items finished per second now, in unfinished jobs."""
    error_share: float | None
    """Share of finished items in ERROR; null if none is finished."""


class SlowJobView(ResponseModel):
    """A job that has work and makes almost no progress, and why."""

    job_id: Identifier
    name: str
    limited_by: WaitView | None


class LoopView(ResponseModel):
    """A part of the server that runs all the time: a process or a background task."""

    name: str
    alive: bool
    """True if it gave a sign of life since its start and within `allowed_s`."""
    silent_s: float
    """Seconds since the last sign of life."""
    allowed_s: float
    """Seconds that it may be silent."""
    restarts: int
    last_error: str | None
    """Why it ended the last time; null if it never did."""


class System(ResponseModel):
    database: DatabaseView
    sweeper: SweeperView
    queue: QueueView
    slow_jobs: list[SlowJobView]
    """Jobs that had work for 30 s and ran below 5 % of their possible rate."""
    loops: list[LoopView]
    log_lines_lost: int
    """Lines of the log that could not be written."""


@router.get("", responses=documented())
async def show(who: Admin, app_state: State) -> System:
    """Return the size and schema of the database, its sweeper, and how the work goes."""
    status = await app_state.store.reads.status()
    return System(
        database=_database(status),
        sweeper=_sweeper(app_state, status),
        queue=_queue(app_state, status),
        slow_jobs=[
            SlowJobView(job_id=str(each.job_id), name=each.name, limited_by=wait_view(each.wait))
            for each in app_state.monitor.health.slow
        ],
        loops=[_loop(app_state, state) for state in app_state.loops.states()],
        log_lines_lost=LOST.lines,
    )


def _loop(app_state: AppState, state: LoopState) -> LoopView:
    silent_s = app_state.loops.silent_s(state)
    return LoopView(
        name=state.name,
        alive=state.running and silent_s <= state.allowed_s,
        silent_s=round(silent_s, 3),
        allowed_s=state.allowed_s,
        restarts=state.restarts,
        last_error=state.last_error or None,
    )


def _database(status: StoreStatus) -> DatabaseView:
    return DatabaseView(
        kind=status.kind,
        version=status.version,
        location=without_secrets(status.location),
        size_bytes=status.size_bytes,
        schema_version=status.schema,
        latest_schema_version=status.latest_schema,
        jobs=status.jobs,
        items=status.items,
    )


def _sweeper(app_state: AppState, status: StoreStatus) -> SweeperView:
    now = app_state.clock.now()
    held = [duty for duty in status.duties if duty.name == Sweeper.DUTY and duty.until_at > now]
    return SweeperView(
        holder=held[0].holder if held else None,
        until=moment(held[0].until_at) if held else None,
        retention_days=app_state.settings.retention.days,
    )


def _queue(app_state: AppState, status: StoreStatus) -> QueueView:
    counts = status.counts
    return QueueView(
        counts=counts_view(counts),
        per_second=app_state.monitor.total_rate(),
        error_share=counts.error / counts.finished if counts.finished else None,
    )
