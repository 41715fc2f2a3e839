"""How a worker process runs: bounds and patience, with their defaults."""

import msgspec


class WorkerPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of the processes that run handlers."""

    concurrency: int = 32
    """Items in flight at once, over all processes of a command."""
    processes: int = 1
    item_timeout_s: float = 600.0
    """For handlers that declare no `timeout` of their own."""
    memory_mb: int = 4_096
    """A worker process that grows beyond this is ended; what it ran becomes suspect."""
    alone_memory_mb: int = 1_024
    """The same for a process that runs one suspect, unless its handler declares `memory_mb`."""
    alone_processes: int = 2
    """Suspects that run at once, each in a process of its own."""
    result_bytes: int = 1_048_576
    """A larger result is refused as `invalid_result`."""
    flush_items: int = 1_000
    flush_s: float = 0.005
    """A result waits at most this long for others to commit with."""
    poll_s: float = 0.25
    """How often a worker looks for control changes, and for work when no bell rings."""
    grace_s: float = 1.0
    """How far past its time limit a handler may run before its process is ended."""
    heartbeat_s: float = 1.0
    shutdown_s: float = 30.0
    """How long running items may finish after the first interrupt before they are handed back."""
