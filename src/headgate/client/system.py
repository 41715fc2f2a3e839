"""The state of the whole system, for operators."""

from collections.abc import Mapping, Sequence
from typing import Any

from headgate.client.transport import ApiRequest, Transport, segment
from headgate.client.values import Counts, Listed, Moment, Wired, params


class Database(Wired, frozen=True, kw_only=True):
    kind: str
    version: str
    location: str
    size_bytes: int
    schema_version: int
    latest_schema_version: int
    jobs: int
    items: int


class SweeperState(Wired, frozen=True, kw_only=True):
    """The process that recovers lost items and deletes old data; None: no process does."""

    holder: str | None = None
    until: Moment = None
    retention_days: float


class QueueState(Wired, frozen=True, kw_only=True):
    """Progress over all jobs."""

    counts: Counts
    per_second: float
    error_share: float | None = None
    """Share of finished items that are in ERROR; None: no item is finished."""


class System(Wired, frozen=True, kw_only=True):
    database: Database
    sweeper: SweeperState
    queue: QueueState


class Handler(Wired, frozen=True, kw_only=True):
    name: str
    about: str = ""
    provider: str | None = None
    strategies: Sequence[str] = ()
    pack: int | None = None
    version: str = ""
    config: Mapping[str, Any] | None = None
    """JSON Schema of its config; None: any config."""


class Health(Wired, frozen=True, kw_only=True):
    """Whether the store answers and items make progress."""

    status: str
    """`ok`, or what is wrong: `store`, `not running`, `no workers`, `stalled`, `slow`."""
    version: str
    store: bool
    workers: int
    claimable: bool
    """Whether an item could be claimed now."""
    moving: bool
    """Whether nothing waits, or an item was claimed or finished within the last minute."""
    slow_jobs: int = 0
    """Jobs that had work to do for 30 s and did less than 5 % of what they could."""
    not_running: tuple[str, ...] = ()
    """Parts of the server without a sign of life: `file worker`, `supervisor`…"""

    @property
    def ok(self) -> bool:
        return self.status == "ok"


class Worker(Wired, frozen=True, kw_only=True):
    id: str
    session_id: str
    host: str
    pid: int
    version: str
    beat: int
    running: int
    """Items that the worker holds."""
    draining: bool
    registered_at: Moment
    beat_at: Moment
    stopped_at: Moment = None
    boot_id: str = ""
    started_ticks: int = 0
    ttl_s: float = 0.0
    claim_size: int = 0
    """Number of items that its claims request at present; 0 before the first."""


class Workers:
    """For admins only."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def ls(self, *, everybody: bool = False) -> list[Worker]:
        """Workers, newest first; with `everybody` also stopped ones."""
        ask = ApiRequest(path="/api/workers", params=params(all=everybody))
        return (await self._wire.value(ask, Listed[Worker])).items

    async def drain(self, worker_id: str) -> Worker:
        """Let a worker finish its items, take no more, and end."""
        path = f"/api/workers/{segment(worker_id)}/drain"
        return await self._wire.value(ApiRequest(method="POST", path=path), Worker)
