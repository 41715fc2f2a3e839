"""A running process and the identity that nobody else can have."""

import msgspec


class WorkerInfo(msgspec.Struct, frozen=True):
    """Who registers; host, boot id, pid and start time name one process for ever."""

    id: str
    session_id: str
    host: str
    boot_id: str
    pid: int
    started_ticks: int
    version: str
    ttl_s: float
    jobs: tuple[int, ...] = ()


class WorkerRow(msgspec.Struct, frozen=True):
    """What the store knows of a worker."""

    id: str
    session_id: str
    host: str
    boot_id: str
    pid: int
    started_ticks: int
    version: str
    ttl_s: float
    beat: int
    registered_at: int
    beat_at: int
    stopped_at: int | None
    leases: int
    draining: bool = False
    """It was asked to take nothing more, and to end."""
    claim_size: int = 0
    """How many items its claims ask for at present; 0 before the first."""
