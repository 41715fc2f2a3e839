"""The whole as an operator sees it."""

from collections.abc import Mapping, Sequence
from typing import Any

from headgate.client.transport import ApiRequest, Transport, segment
from headgate.client.values import Counts, Listed, Moment, Wired, params


class Database(Wired, frozen=True, kw_only=True):
    """The database that is queue and truth."""

    kind: str
    version: str
    location: str
    size_bytes: int
    schema_version: int
    latest_schema_version: int
    jobs: int
    items: int


class SweeperState(Wired, frozen=True, kw_only=True):
    """Who puts right what died, and sweeps out what is old; nobody: None."""

    holder: str | None = None
    until: Moment = None
    retention_days: float


class QueueState(Wired, frozen=True, kw_only=True):
    """How the work goes, over all jobs."""

    counts: Counts
    per_second: float
    error_share: float | None = None
    """Of the finished items, those in ERROR; None: none is finished."""


class System(Wired, frozen=True, kw_only=True):
    """The database, its sweeper, the queue."""

    database: Database
    sweeper: SweeperState
    queue: QueueState


class Handler(Wired, frozen=True, kw_only=True):
    """A handler by its name."""

    name: str
    about: str = ""
    provider: str | None = None
    strategies: Sequence[str] = ()
    pack: int | None = None
    version: str = ""
    config: Mapping[str, Any] | None = None
    """What its configuration must look like, as a JSON Schema; None: anything."""


class Health(Wired, frozen=True, kw_only=True):
    """Whether the store answers and items move."""

    status: str
    """`ok`, or what is wrong: `store`, `not running`, `no workers`, `stalled`, `slow`."""
    version: str
    store: bool
    workers: int
    claimable: bool
    """Something could be claimed now."""
    moving: bool
    """Nothing waits, or something was claimed or finished within the last minute."""
    slow_jobs: int = 0
    """Jobs that have had work to do for 30 s and did less than 5 % of what they could."""
    not_running: tuple[str, ...] = ()
    """Parts of the server that gave no sign of life for too long: `file worker`, `supervisor`…"""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.status == "ok"


class Worker(Wired, frozen=True, kw_only=True):
    """A worker process."""

    id: str
    session_id: str
    host: str
    pid: int
    version: str
    beat: int
    running: int
    """Items that it holds."""
    draining: bool
    registered_at: Moment
    beat_at: Moment
    stopped_at: Moment = None
    boot_id: str = ""
    started_ticks: int = 0
    ttl_s: float = 0.0
    claim_size: int = 0
    """How many items its claims ask for at present; 0 before the first."""


class Workers:
    """Verbs over workers; for admins."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def ls(self, *, everybody: bool = False) -> list[Worker]:
        """Workers, newest first; `everybody`: also those that stopped."""
        ask = ApiRequest(path="/api/workers", params=params(all=everybody))
        return (await self._wire.value(ask, Listed[Worker])).items

    async def drain(self, worker_id: str) -> Worker:
        """Let a worker finish what it runs, take nothing more, and end."""
        path = f"/api/workers/{segment(worker_id)}/drain"
        return await self._wire.value(ApiRequest(method="POST", path=path), Worker)
