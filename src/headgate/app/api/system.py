"""The server itself: its version, health, database, sweeper, background tasks and workers."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from msgspec.structs import replace

from headgate import __version__
from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import Admin, CurrentUser
from headgate.app.api.models import Json
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.state import AppState, State
from headgate.app.api.struct_route import reference_to
from headgate.app.loops import LoopState
from headgate.app.schema_values import counts_view, wait_view, worker_view
from headgate.app.streams import LOST
from headgate.core.redact_values import without_secrets
from headgate.core.time_text import moment
from headgate.engine.sweeper import Sweeper
from headgate.ports.reads import StoreStatus
from headgate.schema.system import (
    About,
    DatabaseView,
    Features,
    HealthView,
    LoopView,
    QueueView,
    SlowJobView,
    SweeperView,
    System,
    WorkerView,
)
from headgate.schema.values import Listed

router = APIRouter(prefix="/api/system", tags=["health"], route_class=BoundedRoute)
about_router = APIRouter(prefix="/api/about", tags=["health"], route_class=BoundedRoute)
health = APIRouter(tags=["health"], route_class=BoundedRoute)
workers = APIRouter(prefix="/api/workers", tags=["workers"], route_class=BoundedRoute)

UNHEALTHY: dict[int | str, Json] = {
    503: {"description": "A problem, named in `status`.", "content": reference_to(HealthView)}
}


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


@about_router.get("", responses=documented())
async def about(who: CurrentUser, app_state: State) -> About:
    """Return the version, the features that are switched on, and the size limits."""
    policy = app_state.settings.server
    return About(
        version=__version__,
        features=Features(pending_view=policy.pending_view),
        upload_mb=policy.upload_mb,
        inline_items=policy.inline_items,
    )


@health.get("/healthz", responses=UNHEALTHY)
async def healthz(app_state: State, response: Response) -> HealthView:
    """Report whether the service works: its parts run, the store answers, jobs progress."""
    return _answered(app_state, response, ready=False)


@health.get("/readyz", responses=UNHEALTHY)
async def readyz(app_state: State, response: Response) -> HealthView:
    """Report whether to send work here: the service is healthy and has at least one worker."""
    return _answered(app_state, response, ready=True)


def _answered(app_state: State, response: Response, *, ready: bool) -> HealthView:
    seen = app_state.monitor.health
    silent = app_state.loops.silent()
    status = "ok"
    if not seen.store:
        status = "store"
    elif silent:
        status = "not running"
    elif not seen.moving:
        status = "stalled"
    elif not seen.workers and (ready or seen.claimable):
        status = "no workers"
    elif seen.slow and not ready:
        status = "slow"
    if status != "ok":
        response.status_code = 503
    return HealthView(
        status=status,
        version=__version__,
        store=seen.store,
        workers=seen.workers,
        claimable=seen.claimable,
        moving=seen.moving,
        slow_jobs=len(seen.slow),
        not_running=tuple(silent),
    )


@workers.get("", responses=documented())
async def ls_workers(
    who: Admin,
    app_state: State,
    everyone: Annotated[bool, Query(alias="all", description="Also list stopped workers.")] = False,
) -> Listed[WorkerView]:
    """List workers, newest first."""
    rows = await app_state.store.reads.workers(alive_only=not everyone)
    return Listed(items=[worker_view(row) for row in rows])


@workers.post("/{workerId}/drain", status_code=202, responses=documented())
async def drain(
    worker_id: Annotated[str, Path(alias="workerId", max_length=200)],
    who: Admin,
    app_state: State,
) -> WorkerView:
    """Drain a worker: it finishes its items, takes no more, and exits."""
    alive = {row.id: row for row in await app_state.store.reads.workers()}
    if worker_id not in alive or not await app_state.store.jobs.ask_drain(worker_id):
        raise ProblemResponse(404, f"worker {worker_id[:80]!r} is not running")
    await app_state.store.notifier.ring()
    return replace(worker_view(alive[worker_id]), draining=True)
