"""Workers: list them, and drain one."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import Admin
from headgate.app.api.models import Identifier, Moment, ResponseModel
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.state import State
from headgate.core.time_text import moment
from headgate.core.worker import WorkerRow

router = APIRouter(prefix="/api/workers", tags=["workers"], route_class=BoundedRoute)


class WorkerView(ResponseModel):
    id: Identifier
    session_id: str
    host: str
    boot_id: str
    pid: int
    started_ticks: int
    """Start time as the host counts it. Host, boot, pid and this value identify one process."""
    ttl_s: float
    """Seconds of silence after which the worker counts as dead."""
    version: str
    beat: int
    running: int
    """Items that the worker holds."""
    claim_size: int
    """Items per claim at present; 0 before the first claim."""
    draining: bool
    registered_at: Moment
    beat_at: Moment
    stopped_at: Moment


class Workers(ResponseModel):
    """Workers, newest first."""

    items: list[WorkerView]


@router.get("", responses=documented())
async def ls(
    who: Admin,
    app_state: State,
    everyone: Annotated[bool, Query(alias="all", description="Also list stopped workers.")] = False,
) -> Workers:
    """List workers."""
    rows = await app_state.store.reads.workers(alive_only=not everyone)
    return Workers(items=[worker_view(row) for row in rows])


@router.post("/{workerId}/drain", status_code=202, responses=documented())
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
    return worker_view(alive[worker_id]).model_copy(update={"draining": True})


def worker_view(row: WorkerRow) -> WorkerView:
    return WorkerView(
        id=row.id,
        session_id=row.session_id,
        host=row.host,
        boot_id=row.boot_id,
        pid=row.pid,
        started_ticks=row.started_ticks,
        ttl_s=row.ttl_s,
        version=row.version,
        beat=row.beat,
        running=row.leases,
        claim_size=row.claim_size,
        draining=row.draining,
        registered_at=moment(row.registered_at),
        beat_at=moment(row.beat_at),
        stopped_at=moment(row.stopped_at),
    )
