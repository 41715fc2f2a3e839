"""The whole as an operator sees it."""

from headgate.client.values import Counts, Moment, Wired


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
