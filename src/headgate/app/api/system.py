"""What an operator wants to know of the whole: the database, its sweeper, the queue."""

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
    """The database that is queue and truth."""

    kind: str
    version: str
    location: str
    size_bytes: int
    schema_version: int
    latest_schema_version: int
    """The one that this release brings; equal, unless `headgate db migrate` is due."""
    jobs: int
    items: int


class SweeperView(ResponseModel):
    """Who puts right what died, and sweeps out what is old."""

    holder: str | None
    """The supervisor that was elected; null: none is."""
    until: Moment
    """Elected until then, unless it says again that it lives."""
    retention_days: float
    """Records that are older go."""


class QueueView(ResponseModel):
    """How the work goes, over all jobs."""

    counts: CountsView
    per_second: float
    """Items finished in a second now, in jobs that are unfinished."""
    error_share: float | None
    """Of the finished items, those in ERROR; null: none is finished."""


class SlowJobView(ResponseModel):
    """A job that has work to do and hardly does any, and why."""

    job_id: Identifier
    name: str
    limited_by: WaitView | None


class LoopView(ResponseModel):
    """A part of the server that runs all the time: a process, or a loop in one."""

    name: str
    alive: bool
    """It gave a sign of life since it was started, and within the time that it may be silent."""
    silent_s: float
    """Seconds since its last sign of life."""
    allowed_s: float
    """Seconds that it may be silent."""
    restarts: int
    last_error: str | None
    """Why it ended the last time; null: it never did."""


class System(ResponseModel):
    """The database, its sweeper, the queue, the parts of the server."""

    database: DatabaseView
    sweeper: SweeperView
    queue: QueueView
    slow_jobs: list[SlowJobView]
    """Jobs that have had work to do for 30 s and did less than 5 % of what they could."""
    loops: list[LoopView]
    """The parts of this server."""
    log_lines_lost: int
    """Lines of its log that could not be written."""


@router.get("", responses=documented())
async def show(who: Admin, app_state: State) -> System:
    """Tell the size and schema of the database, who sweeps it, and how the work goes."""
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
