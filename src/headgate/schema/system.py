"""The state of the server: health, database, workers, handlers."""

from headgate.schema.jobs import CountsView, WaitView
from headgate.schema.values import Identifier, JsonObject, Moment, WireValue


class Features(WireValue, frozen=True, kw_only=True):
    """Features that the settings can switch off."""

    pending_view: bool


class About(WireValue, frozen=True, kw_only=True):
    """The version, the features that are switched on, and the size limits."""

    version: str
    features: Features
    upload_mb: int
    inline_items: int


class HealthView(WireValue, frozen=True, kw_only=True):
    status: str
    """`ok`, or the problem: `store`, `not running`, `no workers`, `stalled` or `slow`."""
    version: str
    store: bool
    workers: int
    claimable: bool
    """True if at least one item can be claimed now."""
    moving: bool
    """True if nothing waits, or an item was claimed or finished within the last minute."""
    slow_jobs: int = 0
    """Jobs that had work for 30 s and ran below 5 % of their possible rate."""
    not_running: tuple[str, ...] = ()
    """Parts of the server without a sign of life for too long: `file worker`, `supervisor`…"""

    @property
    def ok(self) -> bool:
        return self.status == "ok"


class DatabaseView(WireValue, frozen=True, kw_only=True):
    kind: str
    version: str
    location: str
    size_bytes: int
    schema_version: int
    latest_schema_version: int
    """The schema of this release. Differs if `headgate db migrate` is due."""
    jobs: int
    items: int


class SweeperView(WireValue, frozen=True, kw_only=True):
    """The elected process that recovers stalled work and deletes old records."""

    holder: str | None
    """The elected supervisor; null if there is none."""
    until: Moment
    """End of the term, unless it is renewed."""
    retention_days: float
    """Older records are deleted."""


class QueueView(WireValue, frozen=True, kw_only=True):
    """Work over all jobs."""

    counts: CountsView
    per_second: float
    """Items finished per second now, in unfinished jobs."""
    error_share: float | None
    """Share of finished items in ERROR; null if none is finished."""


class SlowJobView(WireValue, frozen=True, kw_only=True):
    """A job that has work and makes almost no progress, and why."""

    job_id: Identifier
    name: str
    limited_by: WaitView | None


class LoopView(WireValue, frozen=True, kw_only=True):
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


class System(WireValue, frozen=True, kw_only=True):
    database: DatabaseView
    sweeper: SweeperView
    queue: QueueView
    slow_jobs: list[SlowJobView]
    """Jobs that had work for 30 s and ran below 5 % of their possible rate."""
    loops: list[LoopView]
    log_lines_lost: int
    """Lines of the log that could not be written."""


class WorkerView(WireValue, frozen=True, kw_only=True):
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


class HandlerView(WireValue, frozen=True, kw_only=True):
    name: str
    about: str
    provider: str | None
    strategies: list[str]
    pack: int | None
    version: str
    needs: list[str]
    """Columns that every row must have."""
    config_schema: JsonObject | None
    """JSON Schema of the configuration; null if the handler accepts any."""
