"""Settings of workers and of retention, with their defaults."""

import msgspec

from headgate.core.bounds import Count, Days, Patience, Seconds
from headgate.core.retry import RetryPolicy
from headgate.core.sizing import ClaimPolicy


class WorkerPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of the processes that run handlers."""

    concurrency: Count = 32
    """Items in flight at once, over all processes of a command."""
    processes: Count = 1
    """Worker processes of a command; more for handlers that keep a core busy."""
    item_timeout_s: Seconds = 600.0
    """Time limit of handlers that do not declare a `timeout`."""
    memory_mb: Count = 4_096
    """A worker process that grows beyond this is ended; the items that it ran become suspect."""
    alone_memory_mb: Count = 1_024
    """The same for a process that runs one suspect, unless its handler declares `memory_mb`."""
    alone_processes: Count = 2
    """Suspects that run at once, each in its own process."""
    result_bytes: Count = 1_048_576
    """A larger result is refused as `invalid_result`."""
    flush_items: Count = 1_000
    """This many results are committed without waiting for more."""
    page_bytes: Count = 67_108_864
    """Rows and follow-up items of one item with more bytes than this are refused as
    `invalid_result`."""
    flush_bytes: Count = 8_388_608
    """Rows with this many bytes are committed without waiting for more; lanes wait for the commit
    at four times as many."""
    flush_s: Patience = 0.005
    """The longest time that a result waits for others to commit with."""
    poll_s: Seconds = 0.25
    """Time between checks for control changes, and for work if no notification arrives."""
    grace_s: Patience = 1.0
    """Time past its limit that a handler may run before its process is ended."""
    heartbeat_s: Seconds = 1.0
    """Time between heartbeats of the supervisor for its workers."""
    shutdown_s: Patience = 30.0
    """Time that running items have after the first interrupt before they are handed back."""


class RetentionPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    days: Days = 30.0
    """Events, sessions, stopped workers and changes of mirrored rows that are older are deleted."""


class Policies(msgspec.Struct, frozen=True):
    worker: WorkerPolicy = WorkerPolicy()
    claim: ClaimPolicy = ClaimPolicy()
    retry: RetryPolicy = RetryPolicy()
    retention: RetentionPolicy = RetentionPolicy()
